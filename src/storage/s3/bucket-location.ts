import { GetBucketLocationCommand } from "@aws-sdk/client-s3";
import { isOutlastError } from "../../core/index.ts";
import type { CallOptions } from "../object-store.ts";
import type { S3Caller } from "./s3-caller.ts";

/** The bucket's region; undefined where we may not ask, or where another server names none. */
export async function bucketLocation(caller: S3Caller, options?: CallOptions): Promise<string | undefined> {
  const { bucket, url } = caller.place;
  const name = { operation: "locate", target: url, action: "s3:GetBucketLocation" };
  try {
    const answer = await caller.call(name, options, (client, http) =>
      client.send(new GetBucketLocationCommand({ Bucket: bucket }), http),
    );
    const region: string | undefined = answer.LocationConstraint;
    // Amazon's oldest region has no name here, and its second had another one then.
    if (!region) return caller.endpoint === undefined ? "us-east-1" : undefined;
    return region === "EU" ? "eu-west-1" : region.toLowerCase();
  } catch (error) {
    if (isOutlastError(error, "OUTLAST_STORE_DENIED", "OUTLAST_STORE_UNSUITABLE")) return undefined;
    throw error;
  }
}
