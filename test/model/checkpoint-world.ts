import { strict as assert } from "node:assert";
import { createHash } from "node:crypto";
import { hashHex } from "../../src/checkpoint/hash.ts";
import { decodeRecord, type LogRecord, recordKey } from "../../src/checkpoint/log/record.ts";
import { applyRecord } from "../../src/checkpoint/log/rules.ts";
import { RunLog } from "../../src/checkpoint/log/run-log.ts";
import type { CommitState, LogState } from "../../src/checkpoint/log/state.ts";
import type { FileEntry, Manifest, ManifestChunk } from "../../src/checkpoint/manifest.ts";
import { getManifest } from "../../src/checkpoint/manifest-codec.ts";
import { isDamage } from "../../src/checkpoint/read-newest.ts";
import { openRun, type RunStore } from "../../src/checkpoint/run-store.ts";
import { unseal } from "../../src/checkpoint/sealed-json.ts";
import type { RestoreOutcome } from "../../src/checkpoint/settle-target.ts";
import { ReuseBook } from "../../src/checkpoint/ship/reuse-book.ts";
import { type ShipContext, type Shipment, type ShipOutcome, shipFiles } from "../../src/checkpoint/ship/ship-files.ts";
import type { Tenure } from "../../src/checkpoint/tenure.ts";
import type { Transfer } from "../../src/checkpoint/transfer/types.ts";
import { type Clock, OutlastError } from "../../src/core/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import type { World } from "./execution.ts";

/** A clock that stands still and never waits. */
export const stillClock: Clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };

export const runName = "r";

/** The store seen by an actor, with a log of its own. */
export function openActor(store: ObjectStore, newId: () => string): { run: RunStore; log: RunLog } {
  const run = openRun(store, runName);
  return { run, log: new RunLog(run, { clock: stillClock, newId, useHint: false }) };
}

/** Sends each file as one chunk through the store; the protocol around it is the real one. */
export const modelTransfer: Transfer = {
  async send({ store, prefix, hash, owner, files, reusable }) {
    const chunks: ManifestChunk[] = [];
    const entries: FileEntry[] = [];
    let bytes = 0;
    let sentBytes = 0;
    for (const file of files) {
      const body = file.bytes ?? new Uint8Array();
      const name = hashHex(hash, body);
      const known = reusable.get(name);
      const chunk = known ?? { key: `chunks/${name.slice(0, 2)}/${name}.${owner}`, hash: name, size: body.length };
      if (!known) {
        await store.put(prefix + chunk.key, body);
        sentBytes += body.length;
      }
      bytes += body.length;
      entries.push({
        type: "file",
        path: file.path,
        size: body.length,
        mode: 0o644,
        mtimeMs: 0,
        hash: hashHex(hash, Buffer.from(name, "hex")),
        pieces: [[chunks.length, 0, body.length]],
      });
      chunks.push(chunk);
    }
    return { chunks, entries, bytes, sentBytes };
  },
  fetch: () => Promise.reject(new Error("not used")),
  verify: () => Promise.reject(new Error("not used")),
  matches: () => Promise.reject(new Error("not used")),
  hurry: () => {},
  close: () => Promise.resolve(),
};

/** Reads and checks one shard's part of a commit; answers with the past it holds. */
export async function readPart(
  run: RunStore,
  commit: CommitState,
  state: LogState,
  shard: number,
): Promise<{ past: string; manifest: Manifest }> {
  // Where the number of shards has changed, some part stands for all.
  const ref = commit.manifests[shard % commit.manifests.length];
  assert(ref, `commit ${commit.at} has no shard ${shard}`);
  const manifest = await getManifest(run, ref, state.hash);
  let past = "";
  for (const chunk of manifest.chunks) {
    const body = await run.get(chunk.key);
    if (hashHex(manifest.hash, body) !== chunk.hash) throw new OutlastError("OUTLAST_CHECKPOINT_DAMAGED", chunk.key);
    const text = Buffer.from(body).toString();
    if (text.startsWith("past ")) past = text.split(" ")[1] ?? "";
  }
  return { past, manifest };
}

/** A restore for settleTarget that remembers what it found. */
export function restorer(
  run: RunStore,
  shard: number,
): {
  restore: (commit: CommitState, state: LogState) => Promise<RestoreOutcome>;
  found: { past: string; book: ReuseBook };
} {
  const found = { past: "", book: new ReuseBook() };
  return {
    found,
    restore: async (commit, state) => {
      try {
        const { past, manifest } = await readPart(run, commit, state, shard);
        found.past = past;
        found.book = new ReuseBook();
        found.book.add(commit.at, [manifest]);
        return { ok: true };
      } catch (error) {
        if (isDamage(error)) return { ok: false, damaged: error.message };
        throw error;
      }
    },
  };
}

/** Ships a step whose content names its past. */
export async function shipStep(
  context: Omit<ShipContext, "transfer" | "nextShipment"> & { shipments: { next: number } },
  step: number,
  past: string,
  hasFrozen = true,
): Promise<ShipOutcome> {
  const { tenure, shipments } = context;
  const file = (path: string, text: string) => ({
    path,
    source: "",
    size: 0,
    mode: 0o644,
    mtimeMs: 0,
    bytes: Buffer.from(text),
  });
  const shipment: Shipment = {
    step,
    convention: "model",
    path: "",
    files: [
      ...(hasFrozen ? [file("frozen", `frozen ${tenure.shard}`)] : []),
      file("moving", `past ${past} shard ${tenure.shard}`),
    ],
    entries: [],
    last: [],
    savedAt: "",
  };
  const outcome = await shipFiles(
    { ...context, transfer: modelTransfer, nextShipment: () => (shipments.next += 1) },
    shipment,
  );
  if (outcome.kind === "committed") context.book.add(outcome.commit.at, [outcome.manifest]);
  return outcome;
}

/** The past of a step saved by a tenure that resumed from `resumed`. */
export function pastOf(resumed: string, tenure: Tenure, step: number): string {
  return `${resumed}>${tenure.gang}@${step}`;
}

/** What was destroyed on purpose before the actors began. */
export interface Damage {
  /** Positions of the commits that are damaged by it. */
  readonly commits: ReadonlySet<number>;
  readonly chunks: ReadonlySet<string>;
}

export const noDamage: Damage = { commits: new Set(), chunks: new Set() };

const decoded = new WeakMap<Uint8Array, LogRecord>();

/** All records of a world, in order. */
export function recordsOf(world: World): LogRecord[] {
  const records: LogRecord[] = [];
  for (let n = 1; ; n += 1) {
    const bytes = world.objects.get(`${runName}/${recordKey(n)}`);
    if (!bytes) break;
    let record = decoded.get(bytes);
    if (!record) {
      record = decodeRecord(bytes, n, "");
      decoded.set(bytes, record);
    }
    records.push(record);
  }
  return records;
}

const opened = new WeakMap<Uint8Array, Manifest>();

function manifestsOf(world: World, commit: CommitState): Manifest[] {
  return commit.manifests.map((ref) => {
    const bytes = world.objects.get(`${runName}/${ref.key}`);
    assert(bytes, `live commit ${commit.at} (step ${commit.step}) lost its manifest ${ref.key}`);
    let manifest = opened.get(bytes);
    if (!manifest) {
      assert.equal(hashHex("sha256", bytes), ref.hash, `manifest ${ref.key} is not what commit ${commit.at} named`);
      const content = unseal(bytes);
      assert("content" in content);
      manifest = content.content as Manifest;
      opened.set(bytes, manifest);
    }
    return manifest;
  });
}

/**
 * What must hold in every reachable store, judged independently of the code under test: records fold as the rules say; nobody overtaken ever commits; every live commit that was
 * not destroyed on purpose is whole and of one past; two sound commits never become one.
 */
export function checkWorld(world: World, damage: Damage = noDamage): void {
  const records = recordsOf(world);
  const head = records.at(-1);
  if (!head) return;
  let before: LogRecord | undefined;
  let mostSound = 0;
  for (const record of records) {
    checkFold(before, record);
    if (record.body.kind === "drop") checkDrop(before, record.body.commits);
    before = record;
    if (record.body.kind === "commit") checkCommitAlone(records, record);
    mostSound = Math.max(
      mostSound,
      record === head ? 0 : record.state.commits.filter((commit) => !damage.commits.has(commit.at)).length,
    );
  }
  let sound = 0;
  for (const commit of head.state.commits) {
    if (damage.commits.has(commit.at)) continue;
    sound += 1;
    const pasts = new Set<string>();
    for (const manifest of manifestsOf(world, commit)) {
      for (const chunk of manifest.chunks) {
        const body = world.objects.get(`${runName}/${chunk.key}`);
        assert(!damage.chunks.has(chunk.key), `commit ${commit.at} was born damaged: it names ${chunk.key}`);
        assert(body, `live commit ${commit.at} (step ${commit.step}) lost its chunk ${chunk.key}`);
        assert.equal(digest(body), chunk.hash, `chunk ${chunk.key} of commit ${commit.at} changed`);
        const text = Buffer.from(body).toString();
        if (text.startsWith("past ")) pasts.add(text.split(" ")[1] ?? "");
      }
    }
    assert.equal(pasts.size, 1, `commit ${commit.at} mixes pasts ${[...pasts].join(" and ")}`);
    assert(
      [...pasts][0]?.endsWith(`>${commit.gang}@${commit.step}`),
      `commit ${commit.at} (gang ${commit.gang}, step ${commit.step}) holds ${[...pasts][0]}`,
    );
  }
  assert(sound >= Math.min(2, mostSound), `${sound} sound commit(s) left of at least two`);
}

const folded = new WeakMap<LogRecord, LogRecord | undefined>();

/** Once for each pair of neighbours: the checker sees the same records in thousands of schedules. */
function checkFold(before: LogRecord | undefined, record: LogRecord): void {
  if (folded.has(record) && folded.get(record) === before) return;
  const state = applyRecord(before?.state, record.body, { n: record.n, at: record.at });
  assert.deepEqual(record.state, state, `record ${record.n} does not fold to its state`);
  folded.set(record, before);
}

/** Only live commits that nobody has pinned are dropped. */
function checkDrop(before: LogRecord | undefined, dropped: readonly number[]): void {
  for (const position of dropped) {
    const commit = before?.state.commits.find((entry) => entry.at === position);
    assert(commit && !commit.pinned, `commit ${position} was dropped although it was pinned or not live`);
  }
}

/** A commit stands only if no epoch of its shard, and no epoch that ended its gang, came between its gang and itself. */
function checkCommitAlone(records: readonly LogRecord[], commit: LogRecord): void {
  assert(commit.body.kind === "commit");
  const { gang, epoch } = commit.body;
  for (const record of records.slice(Math.max(gang, epoch), commit.n - 1)) {
    assert(record.body.kind !== "epoch", `commit ${commit.n} of gang ${gang} stands after epoch ${record.n}`);
  }
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
