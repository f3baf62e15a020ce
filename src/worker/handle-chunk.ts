import type { HandlerHealth } from "./handler-health.ts";
import { handlerFailed } from "./handler-health.ts";
import type { HandleEnd, ItemHandler, OnAnswer } from "./item-handler.ts";
import { failure, type ItemAnswer } from "./protocol.ts";
import type { HandlerItem } from "./types.ts";

/** How long an empty-handed handler is watched: at least this, at most a minute. */
const shortestWatchMs = 1000;
const longestWatchMs = 60_000;

export interface HandleChunkOptions {
  readonly handler: ItemHandler;
  readonly health: HandlerHealth;
  readonly onAnswer: OnAnswer;
  readonly signal: AbortSignal;
}

/**
 * Has a chunk handled. When the handler breaks in the middle, the items without an answer are given to a fresh one, one by one: the item that
 * breaks it alone is the culprit and fails, the others are not charged. Items left without an answer after `signal` are the caller's to hand back.
 */
export async function handleChunk(items: readonly HandlerItem[], options: HandleChunkOptions): Promise<void> {
  const { handler, health, signal } = options;
  const open = new Map(items.map((item) => [item.id, item]));
  const onAnswer: OnAnswer = (id, answer) => {
    health.answered();
    open.delete(id);
    options.onAnswer(id, answer);
  };
  const end = await handler.handle(items, onAnswer, signal);
  if (end.kind !== "broken") return;

  // Charged only when it is clear that the handler as such is not to blame.
  const held: { readonly item: HandlerItem; readonly answer: ItemAnswer }[] = [];
  let lifeMs = end.lifeMs;
  for (const item of open.values()) {
    let alone: HandleEnd = items.length === 1 ? end : await handler.handle([item], onAnswer, signal);
    // One that had worked before may have ended for reasons of its own; only a fresh one is a witness.
    if (isDeath(alone) && !alone.isFresh) alone = await handler.handle([item], onAnswer, signal);
    if (alone.kind === "cut" || signal.aborted) break;
    if (alone.kind === "answered") continue;
    lifeMs = alone.lifeMs;
    const answer = failure(alone.error, alone.isPermanent ?? false);
    if (alone.cause !== "death") {
      open.delete(item.id);
      options.onAnswer(item.id, answer);
      continue;
    }
    health.died(item);
    if (health.isHopeless)
      throw handlerFailed("the handler ended on every item it was given and never answered", alone.error);
    held.push({ item, answer });
  }
  if (held.length === 0) return;
  if (health.isDoubtful && !signal.aborted) {
    const watchMs = Math.min(longestWatchMs, Math.max(shortestWatchMs, 2 * lifeMs));
    const seen = await handler.staysAlive(watchMs, signal);
    if (!seen.alive) throw handlerFailed("the handler ends by itself, before it is given anything", seen.error);
    health.livedIdle();
  }
  if (signal.aborted && health.isDoubtful) return;
  for (const { item, answer } of held) options.onAnswer(item.id, answer);
}

function isDeath(end: HandleEnd): end is Extract<HandleEnd, { kind: "broken" }> {
  return end.kind === "broken" && end.cause === "death";
}
