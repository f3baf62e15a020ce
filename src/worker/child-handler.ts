import { type Clock, formatBytes, formatDuration } from "../core/index.ts";
import { HandlerProcess, type HandlerProgram } from "./handler-process.ts";
import type { HandleEnd, HandlerTalk, ItemHandler, OnAnswer } from "./item-handler.ts";
import { LineReader } from "./line-reader.ts";
import { failure, idAtHead, readAnswerLine, shorten, tooLarge, writeItems } from "./protocol.ts";
import type { HandlerItem } from "./types.ts";

export interface ChildHandlerOptions {
  readonly program: HandlerProgram;
  readonly isBatch: boolean;
  /** Most items it is ever given at once. */
  readonly chunk: number;
  readonly maxResultBytes: number;
  readonly itemTimeoutMs: number | undefined;
  readonly clock: Clock;
  readonly talk: HandlerTalk;
}

/** The items a child has in hand. */
interface Conversation {
  readonly waiting: Set<string>;
  readonly answered: Set<string>;
  readonly onAnswer: OnAnswer;
  readonly end: (end: HandleEnd) => void;
  readonly isFresh: boolean;
  readonly sinceMs: number;
  lastAnswerMs: number;
}

/** What a process may take to load its model before its first answer, as long as nobody knows better. */
const unknownStartMs = 300_000;

/** Room for the id and the punctuation around a result. */
const envelopeBytes = 64 * 1024;

/** A long-lived child that reads items and writes answers, one JSON object a line. */
export class ChildHandler implements ItemHandler {
  readonly #options: ChildHandlerOptions;
  #process: HandlerProcess | undefined;
  #conversation: Conversation | undefined;
  /** Set before we end it, so that its end is not taken for a crash. */
  #isAsked = false;
  /** Cut short: nobody listens any more, and it is asked to end soon. */
  #isIgnored = false;
  /** How long it took at most from a process's first items to its first answer: loading a model is not the item's fault. */
  #startMs: number | undefined;
  /** Items given to the present process. */
  #given = 0;

  constructor(options: ChildHandlerOptions) {
    this.#options = options;
  }

  async handle(items: readonly HandlerItem[], onAnswer: OnAnswer, signal: AbortSignal): Promise<HandleEnd> {
    const { clock, isBatch } = this.#options;
    if (this.#isIgnored) await this.#end();
    const child = await this.#alive();
    if (signal.aborted) return { kind: "cut" };
    const isFresh = this.#given === 0;
    this.#given += items.length;
    const { promise, resolve } = Promise.withResolvers<HandleEnd>();
    const conversation: Conversation = {
      waiting: new Set(items.map(({ id }) => id)),
      answered: new Set(),
      onAnswer,
      end: resolve,
      lastAnswerMs: clock.monotonic(),
      isFresh,
      sinceMs: clock.monotonic(),
    };
    const cut = () => resolve({ kind: "cut" });
    signal.addEventListener("abort", cut);
    this.#conversation = conversation;
    const watch = this.#watchTime(conversation, items.length);
    child.write(writeItems(items, isBatch));
    const end = await promise;
    watch?.abort();
    signal.removeEventListener("abort", cut);
    this.#conversation = undefined;
    if (end.kind === "cut") this.#isIgnored = true;
    // Whatever it still has of these items must not be mistaken for an answer to the next ones.
    else if (end.kind === "broken") await this.#end();
    return end;
  }

  async staysAlive(
    ms: number,
    signal: AbortSignal,
  ): Promise<{ readonly alive: true } | { readonly alive: false; readonly error: string }> {
    const child = await this.#alive();
    const done = new AbortController();
    await Promise.race([child.ended, this.#options.clock.sleep(ms, AbortSignal.any([signal, done.signal]))]);
    done.abort();
    return child.hasEnded ? { alive: false, error: this.#obituary(child) } : { alive: true };
  }

  async stop(patienceMs: number, isHurried: boolean): Promise<void> {
    const child = this.#process;
    if (!child || child.hasEnded) return;
    this.#isAsked = true;
    const { clock } = this.#options;
    const done = new AbortController();
    const wait = (ms: number) => Promise.race([child.ended, clock.sleep(ms, done.signal)]);
    child.endInput();
    if (!isHurried) await wait(patienceMs / 2);
    if (!child.hasEnded) child.signal("SIGTERM");
    await wait(isHurried ? patienceMs : patienceMs / 2);
    this.kill();
    await wait(1000);
    done.abort();
  }

  kill(): void {
    this.#isAsked = true;
    this.#process?.signal("SIGKILL");
  }

  async #alive(): Promise<HandlerProcess> {
    if (this.#process && !this.#process.hasEnded) return this.#process;
    const { program, talk, isBatch, chunk, maxResultBytes } = this.#options;
    const reader = new LineReader({
      limit: (maxResultBytes + envelopeBytes) * (isBatch ? chunk : 1),
      onLine: (line) => this.#hear(line),
      onTooLong: (head, bytes) => this.#hearTooMuch(head, bytes),
    });
    this.#isAsked = false;
    this.#isIgnored = false;
    this.#given = 0;
    const child = await HandlerProcess.start(program, {
      onData: (data) => reader.push(data),
      onStderr: talk.onStderr,
      onEnd: (how) => {
        reader.close();
        talk.onEnded(child.pid, how, this.#isAsked);
        this.#break("death", this.#obituary(child, how));
      },
    });
    this.#process = child;
    talk.onStarted(child.pid);
    return child;
  }

  /** Kills it and waits until it is gone. */
  async #end(): Promise<void> {
    const child = this.#process;
    if (!child) return;
    if (!child.hasEnded) {
      this.kill();
      await child.ended;
    }
    this.#process = undefined;
  }

  #hear(line: string): void {
    if (this.#isIgnored) return;
    const { isBatch, maxResultBytes, talk } = this.#options;
    const conversation = this.#conversation;
    const read = readAnswerLine(line, isBatch, maxResultBytes);
    if (read.kind === "junk") {
      if (line.trim() !== "") talk.onJunk(shorten(line), "it is not an answer");
      return;
    }
    for (const { id, answer } of read.answers) {
      if (conversation?.waiting.delete(id)) {
        this.#noteAnswer(conversation, id);
        conversation.onAnswer(id, answer);
      } else if (conversation?.answered.has(id)) {
        talk.onJunk(shorten(line), `${JSON.stringify(shorten(id))} was answered before`);
      } else {
        talk.onJunk(shorten(line), `${JSON.stringify(shorten(id))} was not given to it`);
        this.#break("protocol", `the handler answered for an id it was not given: ${shorten(line)}`);
        return;
      }
    }
    if (!conversation) return;
    if (isBatch) {
      for (const id of conversation.waiting) {
        conversation.onAnswer(id, failure(`the handler's results do not name this item: ${shorten(line)}`, false));
      }
      conversation.waiting.clear();
    }
    if (conversation.waiting.size === 0) conversation.end({ kind: "answered" });
  }

  #hearTooMuch(head: string, bytes: number): void {
    if (this.#isIgnored) return;
    const { maxResultBytes, talk } = this.#options;
    const conversation = this.#conversation;
    talk.onJunk(shorten(head, 80), `its ${formatBytes(bytes)} are more than is read`);
    const id = idAtHead(head);
    if (id !== undefined && conversation?.waiting.delete(id)) {
      this.#noteAnswer(conversation, id);
      conversation.onAnswer(id, tooLarge(bytes, maxResultBytes));
      if (conversation.waiting.size === 0) conversation.end({ kind: "answered" });
      return;
    }
    const error = `the handler wrote a line of ${formatBytes(bytes)}; a result may have ${formatBytes(maxResultBytes)} (--max-result)`;
    this.#break("protocol", error, true);
  }

  #noteAnswer(conversation: Conversation, id: string): void {
    const now = this.#options.clock.monotonic();
    if (conversation.isFresh && conversation.answered.size === 0) {
      this.#startMs = Math.max(this.#startMs ?? 0, now - conversation.sinceMs);
    }
    conversation.answered.add(id);
    conversation.lastAnswerMs = now;
  }

  #break(cause: "death" | "time-out" | "protocol", error: string, isPermanent = false): void {
    const conversation = this.#conversation;
    if (!conversation) return;
    const lifeMs = this.#options.clock.monotonic() - conversation.sinceMs;
    conversation.end({ kind: "broken", cause, error, lifeMs, isFresh: conversation.isFresh, isPermanent });
  }

  /** Ends the conversation when nothing was answered for too long. */
  #watchTime(conversation: Conversation, count: number): AbortController | undefined {
    const { itemTimeoutMs, clock, isBatch } = this.#options;
    if (itemTimeoutMs === undefined) return undefined;
    const limitMs = isBatch ? itemTimeoutMs * count : itemTimeoutMs;
    const done = new AbortController();
    const watch = async () => {
      for (;;) {
        const isStarting = conversation.isFresh && conversation.answered.size === 0;
        const startMs = !isStarting ? 0 : this.#startMs === undefined ? unknownStartMs : 2 * this.#startMs;
        const leftMs = conversation.lastAnswerMs + limitMs + startMs - clock.monotonic();
        if (leftMs <= 0) break;
        // In steps: the first answer makes the time left much shorter.
        await clock.sleep(Math.min(leftMs, limitMs), done.signal);
        if (done.signal.aborted) return;
      }
      if (this.#conversation === conversation) {
        this.#break("time-out", `no answer within ${formatDuration(limitMs)} (--item-timeout)`);
      }
    };
    void watch();
    return done;
  }

  #obituary(child: HandlerProcess, how = "ended"): string {
    const words = child.lastWords;
    return `the handler ${how}${words === "" ? "" : `; its last words:\n${words}`}`;
  }
}
