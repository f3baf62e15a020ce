import { afterEach, beforeEach, describe } from "vitest";
import type { QueueParts } from "../../src/queue/index.ts";
import { describeEvictions } from "./queue-evictions.ts";
import { describeSchedules } from "./queue-schedules.ts";
import { type QueueUnderTest, QueueWorker } from "./queue-world.ts";

/** What a section works with: a publisher's side and three workers, each with connections of its own. */
export interface QueueScene {
  readonly under: QueueUnderTest;
  readonly parts: QueueParts;
  readonly w1: QueueWorker;
  readonly w2: QueueWorker;
  readonly w3: QueueWorker;
}

/** The contract of `WorkQueue` over a layout, and every schedule that once broke the rules of batch work. */
export function describeWorkQueue(name: string, open: () => Promise<QueueUnderTest>): void {
  describe(`work queue contract: ${name}`, () => {
    let scene: QueueScene;
    beforeEach(async () => {
      const under = await open();
      const parts = await under.parts();
      await parts.ledger.prepare();
      await parts.broker?.prepare();
      const worker = async (holder: string) => new QueueWorker(holder, await under.parts());
      scene = { under, parts, w1: await worker("w1"), w2: await worker("w2"), w3: await worker("w3") };
    });
    afterEach(async () => {
      for (const worker of [scene.w1, scene.w2, scene.w3]) await worker.queue.close();
      await scene.parts.broker?.close();
      await scene.parts.ledger.close();
      await scene.under.dispose();
    });

    describeEvictions(() => scene);
    describeSchedules(() => scene);
  });
}
