import type { Workload } from "../spec/workload/index.ts";
import { placeholders } from "./names.ts";

/** A Pub/Sub queue's parts. */
export interface PubSubParts {
  readonly project: string;
  readonly subscription: string;
  readonly topic: string;
}

/** The queue's subscription, when it is one. */
export function pubSubOf({ queue }: Workload): PubSubParts | undefined {
  const match =
    typeof queue === "string" ? /^pubsub:\/\/([^/]+)\/([^/?]+)\?(?:.*&)?topic=([^&]+)/.exec(queue) : undefined;
  if (!match) return undefined;
  const [, project = "", subscription = "", topic = ""] = match;
  return { project, subscription, topic };
}

/** Buckets in the order they are named: checkpoints first. */
export function bucketsOf({
  checkpoint,
  storage,
}: Workload): readonly { readonly bucket: string; readonly readOnly: boolean }[] {
  const store = /^gs:\/\/([^/]+)/.exec(checkpoint?.store ?? "")?.[1];
  const all = [
    ...(store === undefined ? [] : [{ bucket: store, readOnly: false }]),
    ...storage.flatMap((one) => (one.type === "pvc" ? [] : [{ bucket: one.bucket, readOnly: one.readOnly }])),
  ];
  const names = [...new Set(all.map(({ bucket }) => bucket))];
  return names.map((bucket) => ({ bucket, readOnly: all.every((one) => one.bucket !== bucket || one.readOnly) }));
}

/** The Google service account the pods act as; undefined where they call no Google API. */
export function googleAccountOf(workload: Workload): string | undefined {
  const { google, name } = workload.serviceAccount;
  if (google !== undefined) return google;
  if (bucketsOf(workload).length === 0 && !pubSubOf(workload)) return undefined;
  // Such names have 6 to 30 characters.
  const id = `outlast-${name}`.slice(0, 30).replace(/-+$/, "");
  return `${id}@${placeholders(workload).project}.iam.gserviceaccount.com`;
}
