import { type Clock, formatDuration, systemCode } from "../core/index.ts";
import { handlerFailed } from "./handler-health.ts";
import type { HandleEnd, HandlerTalk, ItemHandler, OnAnswer } from "./item-handler.ts";
import { failure, type ItemAnswer, readAnswers, shorten, tooLarge } from "./protocol.ts";
import type { JsonValue } from "../results/index.ts";
import type { HandlerItem } from "./types.ts";

export interface HttpHandlerOptions {
  readonly url: string;
  readonly isBatch: boolean;
  readonly chunk: number;
  readonly maxResultBytes: number;
  readonly itemTimeoutMs: number | undefined;
  /** How long an endpoint that is not there is waited for. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly talk: HandlerTalk;
  /** @default fetch */
  readonly fetch?: typeof fetch;
}

/** Nobody listens there (yet): no item is to blame. */
const absent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

type Reply =
  | { readonly kind: "body"; readonly value: unknown; readonly length: number }
  | { readonly kind: "answer"; readonly answer: ItemAnswer };

/** An endpoint that items are posted to: one by one (a chunk's items at the same time), or whole chunks. */
export class HttpHandler implements ItemHandler {
  readonly #options: HttpHandlerOptions;

  constructor(options: HttpHandlerOptions) {
    this.#options = options;
  }

  async handle(items: readonly HandlerItem[], onAnswer: OnAnswer, signal: AbortSignal): Promise<HandleEnd> {
    const { isBatch } = this.#options;
    await (isBatch
      ? this.#batch(items, onAnswer, signal)
      : Promise.all(items.map((item) => this.#one(item, onAnswer, signal))));
    return signal.aborted ? { kind: "cut" } : { kind: "answered" };
  }

  async staysAlive(): Promise<{ readonly alive: true }> {
    return { alive: true };
  }

  async stop(): Promise<void> {
    // The endpoint is not ours to end.
  }

  kill(): void {
    // As above; requests under way end with their signal.
  }

  async #one(item: HandlerItem, onAnswer: OnAnswer, signal: AbortSignal): Promise<void> {
    const { maxResultBytes, itemTimeoutMs } = this.#options;
    const reply = await this.#post(item, maxResultBytes, itemTimeoutMs, signal);
    if (signal.aborted || reply === undefined) return;
    onAnswer(item.id, reply.kind === "answer" ? reply.answer : { kind: "result", result: reply.value as JsonValue });
  }

  async #batch(items: readonly HandlerItem[], onAnswer: OnAnswer, signal: AbortSignal): Promise<void> {
    const { chunk, maxResultBytes, itemTimeoutMs, talk } = this.#options;
    const limit = (maxResultBytes + 64 * 1024) * chunk;
    const timeoutMs = itemTimeoutMs === undefined ? undefined : itemTimeoutMs * items.length;
    const reply = await this.#post({ items }, limit, timeoutMs, signal);
    if (signal.aborted || reply === undefined) return;
    const open = new Set(items.map(({ id }) => id));
    const read = reply.kind === "body" ? readAnswers(reply.value, true, maxResultBytes, reply.length) : undefined;
    if (read?.kind === "answers") {
      for (const { id, answer } of read.answers) {
        if (open.delete(id)) onAnswer(id, answer);
        else talk.onJunk(shorten(id), "the endpoint answered for an id it was not given, or twice");
      }
    }
    const rest =
      reply.kind === "answer"
        ? reply.answer
        : failure(`the endpoint's {"results": […]} does not name this item`, false);
    for (const id of open) onAnswer(id, rest);
  }

  /** Posts until something answers; undefined when cut. */
  async #post(
    body: object,
    limit: number,
    timeoutMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Reply | undefined> {
    const { url, clock, patienceMs, talk } = this.#options;
    const since = clock.monotonic();
    for (let attempt = 0; ; attempt += 1) {
      const timer = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
      try {
        return await this.#ask(body, limit, timer ? AbortSignal.any([signal, timer]) : signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (timer?.aborted)
          return {
            kind: "answer",
            answer: failure(`no answer within ${formatDuration(timeoutMs ?? 0)} (--item-timeout)`, false),
          };
        const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
        const why = cause instanceof Error ? cause.message : String(cause);
        if (!absent.has(systemCode(cause) ?? ""))
          return { kind: "answer", answer: failure(`${url} gave no answer: ${why}`, false) };
        const spentMs = clock.monotonic() - since;
        if (spentMs > patienceMs)
          throw handlerFailed(`${url} could not be reached for ${formatDuration(spentMs)}`, why);
        if (attempt === 0) talk.onWarning("the endpoint cannot be reached; trying again", { url, error: why });
        await clock.sleep(Math.min(5000, 100 * 2 ** attempt), signal);
        if (signal.aborted) return undefined;
      }
    }
  }

  async #ask(body: object, limit: number, signal: AbortSignal): Promise<Reply> {
    const { url, maxResultBytes } = this.#options;
    const ask = this.#options.fetch ?? fetch;
    const response = await ask(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    const text = await readBody(response, limit);
    if (text === undefined) return { kind: "answer", answer: tooLarge(limit + 1, maxResultBytes) };
    const { status } = response;
    if (!response.ok) {
      const permanent = status >= 400 && status < 500 && status !== 408 && status !== 429;
      return { kind: "answer", answer: failure(`${url} answered ${status}: ${shorten(text.trim(), 1000)}`, permanent) };
    }
    try {
      return { kind: "body", value: JSON.parse(text), length: text.length };
    } catch {
      return {
        kind: "answer",
        answer: failure(`${url} answered ${status} with something that is not JSON: ${shorten(text)}`, false),
      };
    }
  }
}

/** The body as text; undefined when it is longer than `limit`. */
async function readBody(response: Response, limit: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
