import { type ErrorCode, OutlastError } from "../../core/index.ts";

/** gRPC's numbers for how a call ended. */
export const grpcStatus = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
  readonly hint: string;
  readonly heals?: boolean;
}

const away: Meaning = {
  code: "OUTLAST_QUEUE_UNREACHABLE",
  says: "Pub/Sub cannot be reached",
  hint: "check the network, or the emulator that PUBSUB_EMULATOR_HOST names",
  heals: true,
};
const unauthenticated: Meaning = {
  code: "OUTLAST_QUEUE_DENIED",
  says: "Pub/Sub does not know who is asking",
  hint: "on GKE bind the pod's service account (Workload Identity); elsewhere run `gcloud auth application-default login`",
};

const meanings: Readonly<Record<number, Meaning>> = {
  [grpcStatus.deadlineExceeded]: away,
  [grpcStatus.unavailable]: away,
  [grpcStatus.internal]: away,
  [grpcStatus.unknown]: away,
  [grpcStatus.aborted]: away,
  [grpcStatus.resourceExhausted]: {
    ...away,
    says: "Pub/Sub's quota is used up",
    hint: "wait, or raise the project's Pub/Sub quota",
  },
  [grpcStatus.notFound]: {
    code: "OUTLAST_QUEUE_MISSING",
    says: "the topic or subscription does not exist (an emulator forgets them when it ends)",
    hint: "run `outlast queue create` with the same URLs, then `outlast queue retry --missing` to send again what was in it",
  },
  [grpcStatus.permissionDenied]: {
    code: "OUTLAST_QUEUE_DENIED",
    says: "Pub/Sub does not allow that to these credentials",
    hint: "grant roles/pubsub.subscriber on the subscription to workers, roles/pubsub.publisher on the topic to publishers",
  },
  [grpcStatus.unauthenticated]: unauthenticated,
};

/** The gRPC number of an error; undefined when it did not come from a call. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** What the client threw, as an error that says what to do. */
export function translateError(error: unknown, operation: string, target: string): OutlastError {
  if (error instanceof OutlastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const meaning = /default credentials|Could not refresh|Unable to detect a Project/i.test(message)
    ? unauthenticated
    : meanings[statusOf(error) ?? -1];
  return new OutlastError(
    meaning?.code ?? "OUTLAST_QUEUE_FAILED",
    `${operation} on ${target}: ${meaning?.says ?? "Pub/Sub refused"}: ${message}`,
    {
      operation,
      target,
      cause: error,
      hint: meaning?.hint ?? "check the names in the queue's URL; `outlast queue create` checks how they are set up",
      recovery: meaning?.heals ? "retry" : "give-up",
    },
  );
}
