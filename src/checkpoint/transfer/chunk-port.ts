import { FolderObjects, type ObjectStore } from "../../storage/index.ts";
import { withSmallNursery } from "./nursery.ts";

/** How the job runners reach stored chunks: files directly, or any store through its interface. */
export interface ChunkPort {
  /** Stores an object: the bytes may be reused when `released` resolves, the object is there when `placed` does. */
  write(key: string, bytes: Uint8Array): { readonly released: Promise<void>; readonly placed: Promise<void> };
  /** Reads an object. `size` is its size, or any other number above the buffer's where it does not fit. */
  read(key: string, into: Uint8Array): Promise<{ readonly bytes: Uint8Array; readonly size: number }>;
  /** Makes all that was written durable. */
  settle(): Promise<void>;
  /** Whether wrong bytes may be the way's fault: then they are read once more before the object is called damaged. */
  readonly isRemote: boolean;
}

/** Chunks as files of a directory store. */
export function folderPort(root: string): ChunkPort {
  const objects = new FolderObjects(root, "direct");
  return {
    write: (key, bytes) => objects.write(key, bytes),
    read: async (key, into) => objects.read(key, into),
    settle: () => objects.settle(),
    isRemote: false,
  };
}

/** Chunks as objects of a store that this thread has at hand. */
export function storePort(store: ObjectStore, signal: AbortSignal, isRemote: boolean): ChunkPort {
  return {
    write: (key, bytes) => putting(createChunk(store, key, bytes, signal)),
    read: async (key, into) => {
      const bytes = await store.get(key, { signal, into, range: { offset: 0, length: into.length } });
      return { bytes, size: bytes.length };
    },
    settle: () => Promise.resolve(),
    isRemote,
  };
}

/** Chunks as objects of a bucket, in a thread of their own; each kind of call has its own patience. */
export function bucketPort(
  bucket: Promise<{ readonly reader: ObjectStore; readonly writer: ObjectStore }>,
  signal: AbortSignal,
): ChunkPort {
  // Told by the jobs that need it; there may be none yet.
  bucket.catch(() => {});
  return {
    write: (key, bytes) => putting(bucket.then(({ writer }) => createChunk(writer, key, bytes, signal))),
    read: async (key, into) => {
      const { reader } = await bucket;
      const range = { offset: 0, length: into.length };
      const bytes = await withSmallNursery(reader.get(key, { signal, into, range }));
      return { bytes, size: bytes.length };
    },
    settle: () => Promise.resolve(),
    isRemote: true,
  };
}

async function createChunk(store: ObjectStore, key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  // "exists" is success: a chunk's key holds its hash and its shipment's number, so what is there is what an earlier try has put.
  await store.putIfAbsent(key, bytes, { signal });
}

function putting(placed: Promise<void>): ReturnType<ChunkPort["write"]> {
  const over = () => {};
  return { released: placed.then(over, over), placed };
}
