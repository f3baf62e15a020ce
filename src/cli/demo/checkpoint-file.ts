import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { TrainingState } from "./model.ts";

/** The file that holds everything. */
export const weights = "model.safetensors";

interface HeaderEntry {
  readonly dtype: "F64";
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** The state as a safetensors file: 8 bytes of header length, a JSON header, then the tensors. */
export function encodeCheckpoint(state: TrainingState): Buffer {
  const header: Record<string, HeaderEntry | Record<string, string>> = {
    __metadata__: { step: String(state.step), random: String(state.random) },
  };
  const parts: Buffer[] = [];
  let at = 0;
  for (const [name, tensor] of state.tensors) {
    header[name] = { dtype: "F64", shape: [tensor.length], data_offsets: [at, at + tensor.byteLength] };
    parts.push(Buffer.from(tensor.buffer, tensor.byteOffset, tensor.byteLength));
    at += tensor.byteLength;
  }
  const text = JSON.stringify(header);
  const json = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...parts]);
}

/** Reads what {@link encodeCheckpoint} wrote. */
export function decodeCheckpoint(bytes: Buffer): TrainingState {
  const headerEnd = 8 + Number(bytes.readBigUInt64LE(0));
  const { __metadata__: metadata, ...entries } = JSON.parse(bytes.toString("utf8", 8, headerEnd)) as Record<
    string,
    HeaderEntry
  > & { readonly __metadata__: { readonly step: string; readonly random: string } };
  const tensors = new Map<string, Float64Array>();
  for (const [name, { data_offsets: offsets }] of Object.entries(entries)) {
    // Copied, because a Float64Array must begin at a multiple of eight.
    const copy = Uint8Array.prototype.slice.call(bytes, headerEnd + offsets[0], headerEnd + offsets[1]);
    tensors.set(name, new Float64Array(copy.buffer));
  }
  return { step: Number(metadata.step), random: Number(metadata.random), tensors };
}

export async function readCheckpoint(folder: string): Promise<TrainingState> {
  return decodeCheckpoint(await readFile(join(folder, weights)));
}

/** Saves in the layout of Hugging Face's Trainer: a folder a step, whose state file is written last. */
export async function writeCheckpoint(dir: string, state: TrainingState): Promise<void> {
  const folder = checkpointPath(dir, state.step);
  await mkdir(folder, { recursive: true });
  await writeDurably(join(folder, weights), encodeCheckpoint(state));
  await writeDurably(join(folder, "trainer_state.json"), Buffer.from(JSON.stringify({ global_step: state.step })));
}

async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, "w");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Where the checkpoint of a step is. */
export function checkpointPath(dir: string, step: number): string {
  return join(dir, `checkpoint-${step}`);
}
