import type { Notice, NoticeSource } from "../notice/index.ts";

/** Sources that are listened to before anybody has started them. */
export interface NoticeRelay {
  /** All of them as one, to be started later; what came before is handed on then. */
  readonly source: NoticeSource;
  /** Resolves with the first notice to stop that comes before the source is started. */
  readonly noticed: Promise<Notice>;
  /** Ends the listening, when the source will not be started. */
  stop(): void;
}

/**
 * Listens to `sources` from now on: what has to be waited for before there is a supervisor, such as a store that does not answer, must not keep a
 * notice waiting.
 */
export function relayNotices(sources: readonly NoticeSource[]): NoticeRelay {
  const first = Promise.withResolvers<Notice>();
  const over = new AbortController();
  const early: Notice[] = [];
  const warnings: { readonly message: string; readonly error: unknown }[] = [];
  let deliver: ((notice: Notice) => void) | undefined;
  let warn: ((message: string, error?: unknown) => void) | undefined;
  for (const source of sources) {
    source.start(
      (notice) => {
        if (deliver) return deliver(notice);
        early.push(notice);
        if (notice.kind !== "planned-end") first.resolve(notice);
      },
      over.signal,
      (message, error) => (warn ? warn(message, error) : void warnings.push({ message, error })),
    );
  }
  const source: NoticeSource = {
    name: sources.map(({ name }) => name).join(", "),
    start(onNotice, signal, onWarning) {
      deliver = onNotice;
      warn = onWarning ?? (() => {});
      for (const notice of early.splice(0)) onNotice(notice);
      for (const { message, error } of warnings.splice(0)) warn(message, error);
      signal.addEventListener("abort", () => over.abort(), { once: true });
    },
  };
  return { source, noticed: first.promise, stop: () => over.abort() };
}
