import type { Beginning, CheckpointSession } from "../checkpoint/index.ts";
import type { Clock } from "../core/index.ts";
import { SaveRequests } from "./save-requests.ts";
import { type ChildSocket, openChildSocket } from "./socket.ts";
import type { ChildMessage, SupervisorMessage } from "./socket-messages.ts";
import { intervalInSteps, StepMeter, type StepsSeen } from "./step-meter.ts";
import { waitAtMost } from "./wait.ts";

/** What a {@link Conversation} needs to know, and whom it tells. */
export interface ConversationOptions {
  readonly run: string;
  readonly session: CheckpointSession;
  readonly clock: Clock;
  /** The notice under way, if any, for a client that connects late. */
  readonly notice: () => SupervisorMessage | undefined;
  readonly onStep: (step: number, isFirst: boolean) => void;
  readonly onSaved: (step: number | undefined) => void;
  readonly onWarning: (message: string, error?: unknown) => void;
}

/** The talk with the child over its socket: what it said, and what it has been asked. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #saves: SaveRequests;
  readonly #steps = new StepMeter();
  #socket: ChildSocket | undefined;
  #saidFinished = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#saves = new SaveRequests(options.clock);
  }

  /** Opens the socket and returns its path. */
  async open(begun: Extract<Beginning, { kind: "start" }>): Promise<string> {
    this.#socket = await openChildSocket({
      onMessage: (message) => this.#hear(message),
      onWarning: this.#options.onWarning,
      hello: () => this.#hello(begun),
      catchUp: () => {
        const notice = this.#options.notice();
        return notice === undefined ? [] : [notice];
      },
    });
    return this.#socket.path;
  }

  get saidFinished(): boolean {
    return this.#saidFinished;
  }

  get steps(): StepsSeen {
    return this.#steps.seen;
  }

  get clients(): number {
    return this.#socket?.clients ?? 0;
  }

  /** How long the last save took that was asked for. */
  get saveMs(): number {
    return this.#saves.saveMs ?? 0;
  }

  /** Whether somebody listens and the computed interval is over. */
  get isSaveDue(): boolean {
    return this.clients > 0 && this.#saves.isDue(this.#options.session.saveIntervalMs());
  }

  send(message: SupervisorMessage): void {
    this.#socket?.send(message);
  }

  askToSave(reason: "interval" | "ends-at"): void {
    this.#saves.asked();
    this.send({ type: "save", reason });
  }

  /** Something was saved (or the child has just begun): the interval starts anew. */
  noteSaved(): void {
    this.#saves.saved();
  }

  /** Hears the last words of a child that has ended: they may still be on the way, and nobody can add to them. */
  async hearLastWords(): Promise<void> {
    if (this.#socket !== undefined) await waitAtMost(this.#socket.allGone(), 100, this.#options.clock);
  }

  async close(): Promise<void> {
    await this.#socket?.close();
  }

  #hear(message: ChildMessage): void {
    const { session, clock, onStep, onSaved } = this.#options;
    switch (message.type) {
      case "step": {
        const isFirst = this.#steps.seen.first === undefined;
        this.#steps.add(message.step, clock.monotonic());
        return onStep(message.step, isFirst);
      }
      case "saved":
        onSaved(message.step);
        return session.childSaved(message.path, message.step);
      case "finished":
        this.#saidFinished = true;
    }
  }

  #hello(begun: Extract<Beginning, { kind: "start" }>): SupervisorMessage {
    const { session, run } = this.#options;
    const intervalMs = session.saveIntervalMs();
    return {
      type: "hello",
      version: 1,
      run,
      attempt: begun.attempt,
      resume_step: begun.resume?.step ?? null,
      resume_path: begun.resume?.path ?? null,
      save_interval_seconds: intervalMs === undefined ? null : intervalMs / 1000,
      save_interval_steps: intervalInSteps(intervalMs, this.#steps.seen.stepMs ?? begun.stepMs) ?? null,
    };
  }
}
