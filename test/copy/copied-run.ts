import { strict as assert } from "node:assert";
import { type CopyOptions, type CopyReport, copyCheckpoints, openRun } from "../../src/checkpoint/index.ts";
import { hashHex } from "../../src/checkpoint/hash.ts";
import { decodeRecord, type LogRecord, recordKey } from "../../src/checkpoint/log/record.ts";
import { applyRecord } from "../../src/checkpoint/log/rules.ts";
import type { LogState } from "../../src/checkpoint/log/state.ts";
import { getManifest } from "../../src/checkpoint/manifest-codec.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import type { MemoryStore } from "../../src/testing/index.ts";
import { stillClock } from "../model/checkpoint-world.ts";

/** Copies run r from one store to another. */
export function copy(from: ObjectStore, to: ObjectStore, options: CopyOptions = {}): Promise<CopyReport> {
  return copyCheckpoints(openRun(from, "r"), openRun(to, "r"), { clock: stillClock, ...options });
}

/** What a run holds: its good checkpoints, oldest first, each shard's files by path. */
export interface Held {
  readonly state: LogState;
  readonly checkpoints: readonly {
    readonly step: number;
    readonly shards: readonly Readonly<Record<string, string>>[];
  }[];
}

/**
 * Reads everything that the run's log calls live and fails on any byte that is missing or wrong, on a log with a hole, and on a record that
 * does not follow from the one before. Undefined when there is no log.
 */
export async function readAll(store: MemoryStore): Promise<Held | undefined> {
  const run = openRun(store, "r");
  let head: LogRecord | undefined;
  const logged = [...store.objects.keys()].filter((key) => key.startsWith("r/log/")).length;
  for (let n = 1; n <= logged; n += 1) {
    const record = decodeRecord(await run.get(recordKey(n)), n, recordKey(n));
    assert.deepEqual(record.state, applyRecord(head?.state, record.body, { n, at: record.at }));
    head = record;
  }
  if (!head) return undefined;
  const { state } = head;
  const checkpoints = [];
  for (const commit of state.commits) {
    const shards = [];
    for (const ref of commit.manifests) {
      const manifest = await getManifest(run, ref, state.hash);
      assert.equal(manifest.run, "r");
      const files: Record<string, string> = {};
      for (const entry of manifest.entries) {
        if (entry.type !== "file") continue;
        const [index = -1] = entry.pieces[0] ?? [];
        const chunk = manifest.chunks[index];
        assert(chunk);
        const body = await run.get(chunk.key);
        assert.equal(hashHex(state.hash, body), chunk.hash, `${chunk.key} is torn`);
        files[entry.path] = Buffer.from(body).toString();
      }
      shards.push(files);
    }
    if (!commit.damaged && !commit.retired) checkpoints.push({ step: commit.step, shards });
  }
  return { state, checkpoints };
}

/** Chunks and manifests that no live commit names. */
export async function leftovers(store: MemoryStore): Promise<string[]> {
  const held = await readAll(store);
  const run = openRun(store, "r");
  const named = new Set<string>();
  for (const commit of held?.state.commits ?? []) {
    for (const ref of commit.manifests) {
      named.add(`r/${ref.key}`);
      const { chunks } = await getManifest(run, ref, held?.state.hash ?? "sha256");
      for (const { key } of chunks) named.add(`r/${key}`);
    }
  }
  return [...store.objects.keys()].filter((key) => /^r\/(chunks|steps)\//.test(key) && !named.has(key));
}
