export { createTransfer, type TransferOptions } from "./create-transfer.ts";
export type {
  ChunkFault,
  FetchRequest,
  FetchResult,
  SendRequest,
  SendResult,
  SourceFile,
  SourceGuard,
  Transfer,
  TransferProgress,
} from "./types.ts";
