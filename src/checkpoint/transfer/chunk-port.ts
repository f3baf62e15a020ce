import { FolderObjects, type ObjectStore } from "../../storage/index.ts";

/** How the job runners reach stored chunks: files directly, or any store through its interface. */
export interface ChunkPort {
  /** Stores an object: the bytes may be reused when `released` resolves, the object is there when `placed` does. */
  write(key: string, bytes: Uint8Array): { readonly released: Promise<void>; readonly placed: Promise<void> };
  /** Reads an object. `size` is its size, or any other number above the buffer's where it does not fit. */
  read(key: string, into: Uint8Array): Promise<{ readonly bytes: Uint8Array; readonly size: number }>;
  /** Makes all that was written durable. */
  settle(): Promise<void>;
}

/** Chunks as files of a directory store. */
export function folderPort(root: string): ChunkPort {
  const objects = new FolderObjects(root, "direct");
  return {
    write: (key, bytes) => objects.write(key, bytes),
    read: async (key, into) => objects.read(key, into),
    settle: () => objects.settle(),
  };
}

/** Chunks as objects of any store. */
export function storePort(store: ObjectStore, signal: AbortSignal | undefined): ChunkPort {
  return {
    write: (key, bytes) => {
      const placed = store.put(key, bytes, { signal });
      const over = () => {};
      return { released: placed.then(over, over), placed };
    },
    read: async (key, into) => {
      const bytes = await store.get(key, { signal, into, range: { offset: 0, length: into.length } });
      return { bytes, size: bytes.length };
    },
    settle: () => Promise.resolve(),
  };
}
