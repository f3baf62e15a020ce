import { randomFillSync } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { copyFile, mkdir, open } from "node:fs/promises";
import { join } from "node:path";

const fileCount = 8;
const tensorBytes = 16 * 1024 * 1024;

/** Writes a checkpoint like a sharded model's: 8 safetensors files of fp32 weights, N(0, 0.02), and two small JSON files. */
export function writeCheckpoint(folder: string, bytes: number): void {
  mkdirSync(folder, { recursive: true });
  const tensors = Math.max(1, Math.round(bytes / fileCount / tensorBytes));
  const weights = new Float32Array(tensorBytes / 4);
  const random = new Uint32Array(tensorBytes / 4);
  const normal = normalTable();
  for (let file = 0; file < fileCount; file += 1) {
    const fd = openSync(join(folder, `model-0000${file + 1}-of-0000${fileCount}.safetensors`), "w");
    writeSync(fd, header(file, tensors));
    for (let tensor = 0; tensor < tensors; tensor += 1) {
      randomFillSync(random);
      for (let i = 0; i < weights.length; i += 1) {
        const bits = random[i] ?? 0;
        weights[i] = (normal[bits & 0xffff] ?? 0) * (0.02 + (bits >>> 16) * 1e-9);
      }
      const body = new Uint8Array(weights.buffer);
      for (let at = 0; at < body.length; ) at += writeSync(fd, body, at, 256 * 1024);
    }
    closeSync(fd);
  }
  writeFileSync(join(folder, "config.json"), JSON.stringify({ model_type: "bench", layers: tensors }));
  writeFileSync(join(folder, "trainer_state.json"), JSON.stringify({ global_step: 1000 }));
}

/** A copy with one contiguous tenth of each large file rewritten, beginning at `start` (0 to 0.9) of the file. */
export async function changeTenth(from: string, to: string, names: readonly string[], start: number): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of names) {
    await copyFile(join(from, name), join(to, name));
    if (!name.endsWith(".safetensors")) continue;
    const handle = await open(join(to, name), "r+");
    const { size } = await handle.stat();
    const span = Buffer.allocUnsafeSlow(Math.floor(size / 10));
    randomFillSync(span);
    await handle.write(span, 0, span.length, Math.floor(size * start));
    await handle.close();
  }
}

function header(file: number, tensors: number): Uint8Array {
  const entries = Array.from({ length: tensors }, (_, i) => [
    `model.layers.${file * tensors + i}.weight`,
    { dtype: "F32", shape: [2048, 2048], data_offsets: [i * tensorBytes, (i + 1) * tensorBytes] },
  ]);
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json]);
}

function normalTable(): Float32Array {
  const table = new Float32Array(0x10000);
  for (let i = 0; i < table.length; i += 1) {
    table[i] = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  }
  return table;
}
