/** Size of a full chunk: large enough that a request costs little beside it, small enough to send again after a fault. */
export const chunkBytes: number = 8 * 1024 * 1024;

/** Runs of bytes up to this size share a chunk with others. */
export const packedBytes: number = 1024 * 1024;

/** The most pieces one pack takes, so that handing over a pack of tiny files stays quick. */
export const packedPieces: number = 1024;

/** The largest chunk a manifest may name; other writers may have cut larger ones than we do. */
export const largestChunkBytes: number = 64 * 1024 * 1024;

/** Larger writes make slow work of fresh page-cache memory. */
export const writeSliceBytes: number = 256 * 1024;

/** The most chunks a thread has on their way to a remote store: what its buffers may take of memory. */
export const remoteSends: number = 4;

/** The most it has on their way from one; what Node allocates for arriving bytes comes on top of the buffers. */
export const remoteFetches: number = 2;

/** Tries of one call to a remote store, with growing pauses: a bad half minute must not cost a shipment. */
export const remoteAttempts: number = 10;
