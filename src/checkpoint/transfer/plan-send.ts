import type { SendJob, SendPart } from "./jobs.ts";
import { chunkBytes, packedBytes, packedPieces } from "./limits.ts";
import { safetensorsHeaderBytes } from "./safetensors-header.ts";
import type { SourceFile } from "./types.ts";

/** Where a run of a file's bytes ends up: part `part` of job `job`. */
export interface PlannedPiece {
  readonly job: number;
  readonly part: number;
  /** Where it begins in the chunk. */
  readonly offset: number;
  readonly length: number;
}

/** Which bytes make up which chunk, before anything is read. */
export interface SendPlan {
  readonly jobs: readonly SendJob[];
  /** Of each file, in the order of the request. */
  readonly pieces: readonly (readonly PlannedPiece[])[];
  readonly bytes: number;
}

interface OpenJob extends SendJob {
  readonly number: number;
  size: number;
  readonly parts: SendPart[];
}

/** Cuts a file: the safetensors header by itself, so that a longer one does not shift the rest, then full chunks. */
export function cutFile(size: number, headerBytes: number): { readonly offset: number; readonly length: number }[] {
  const cuts: { offset: number; length: number }[] = [];
  const cutUp = (from: number, to: number) => {
    for (let offset = from; offset < to; offset += chunkBytes) {
      cuts.push({ offset, length: Math.min(chunkBytes, to - offset) });
    }
  };
  // A file that fits in a pack is taken whole: there is nothing to be gained by cutting it.
  const header = size > packedBytes ? headerBytes : 0;
  cutUp(0, header);
  cutUp(header, size);
  return cuts;
}

/** Plans the chunks of a shipment: large runs one each, small ones packed together in order of their paths. */
export async function planSend(files: readonly SourceFile[]): Promise<SendPlan> {
  const headers = new Map<SourceFile, number>();
  for (const file of files) if (file.size > packedBytes) headers.set(file, await safetensorsHeaderBytes(file));

  const jobs: OpenJob[] = [];
  const open = (): OpenJob => {
    const job: OpenJob = { kind: "send", number: jobs.length, size: 0, parts: [] };
    jobs.push(job);
    return job;
  };
  const pieces: PlannedPiece[][] = files.map(() => []);
  let pack: OpenJob | undefined;
  const order = files.map((_, index) => index).sort((a, b) => byPath(files, a, b));
  for (const index of order) {
    const file = files[index] as SourceFile;
    for (const cut of cutFile(file.size, headers.get(file) ?? 0)) {
      const isPacked = cut.length <= packedBytes;
      if (isPacked && (!pack || pack.size + cut.length > chunkBytes || pack.parts.length >= packedPieces))
        pack = open();
      const job = isPacked && pack ? pack : open();
      pieces[index]?.push({ job: job.number, part: job.parts.length, offset: job.size, length: cut.length });
      job.parts.push(partOf(file, cut.offset, cut.length));
      job.size += cut.length;
    }
  }
  return { jobs, pieces, bytes: files.reduce((sum, file) => sum + file.size, 0) };
}

function partOf(file: SourceFile, offset: number, length: number): SendPart {
  const { path, source, bytes, guard, size } = file;
  return { path, source: bytes ? "" : source, bytes, guard, fileSize: size, offset, length };
}

function byPath(files: readonly SourceFile[], a: number, b: number): number {
  const [left, right] = [files[a]?.path ?? "", files[b]?.path ?? ""];
  return left < right ? -1 : left > right ? 1 : a - b;
}
