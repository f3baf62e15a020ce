import type { ItemAnswer } from "./protocol.ts";
import type { HandlerItem } from "./types.ts";

/** How a handler got on with the items it was given. */
export type HandleEnd =
  /** All were answered. */
  | { readonly kind: "answered" }
  /** Cut short by the caller's signal. */
  | { readonly kind: "cut" }
  /** It ended, was silent for too long, or broke the protocol: those without an answer were not handled. */
  | {
      readonly kind: "broken";
      readonly cause: "death" | "time-out" | "protocol";
      readonly error: string;
      /** How long it had these items. */
      readonly lifeMs: number;
      /** Whether it had been given nothing before these items. */
      readonly isFresh: boolean;
      /** Trying again cannot help. */
      readonly isPermanent?: boolean;
    };

/** Takes an answer; each item has one at most. */
export type OnAnswer = (id: string, answer: ItemAnswer) => void;

/** One handler: a child process or an endpoint. It is given one chunk at a time. */
export interface ItemHandler {
  /** Hands items over and tells each answer; after `broken` the next call starts afresh. */
  handle(items: readonly HandlerItem[], onAnswer: OnAnswer, signal: AbortSignal): Promise<HandleEnd>;
  /** Whether it stays alive when it is given nothing, looked at for `ms`. */
  staysAlive(
    ms: number,
    signal: AbortSignal,
  ): Promise<{ readonly alive: true } | { readonly alive: false; readonly error: string }>;
  /** Asks it to end (end of input, then SIGTERM) and kills it when it has not after `patienceMs`. */
  stop(patienceMs: number, isHurried: boolean): Promise<void>;
  kill(): void;
}

/** What handlers tell besides answers. */
export interface HandlerTalk {
  readonly onStarted: (pid: number) => void;
  readonly onEnded: (pid: number, how: string, wasAsked: boolean) => void;
  /** A line that was no answer, shortened. */
  readonly onJunk: (line: string, why: string) => void;
  readonly onStderr: (bytes: Uint8Array) => void;
  readonly onWarning: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
