/**
 * What a notice asks for.
 * - `eviction`: the machine or pod is being taken away; exit 75.
 * - `interrupt`: a person pressed Ctrl-C; exit 130.
 * - `force`: a person pressed it again: do not wait for the child any longer.
 * - `planned-end`: the end is known ahead; `endsAtMs` says when.
 */
export type NoticeKind = "eviction" | "interrupt" | "force" | "planned-end";

/** Word that this machine, pod or run is about to end. */
export interface Notice {
  /** Name of the source, such as `signal` or `metadata`. */
  readonly source: string;
  readonly kind: NoticeKind;
  /** For people: `SIGTERM`, `the instance is being preempted`. */
  readonly reason: string;
  /** Wall-clock milliseconds since 1970; with `planned-end` only. */
  readonly endsAtMs?: number;
}

/** A source's answer to a fault: told, never thrown. */
export type NoticeWarning = (message: string, error?: unknown) => void;

/** Where eviction notices come from. */
export interface NoticeSource {
  readonly name: string;
  /**
   * Begins to listen and returns at once. Calls `onNotice` for every notice, possibly more than once, until `signal` aborts;
   * nothing of it outlives that.
   */
  start(onNotice: (notice: Notice) => void, signal: AbortSignal, onWarning?: NoticeWarning): void;
}
