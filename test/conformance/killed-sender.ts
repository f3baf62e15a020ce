import { createTransfer } from "../../src/checkpoint/transfer/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { describeTree } from "./file-tree.ts";

// Sends a folder to a directory store again and again until somebody kills it; prints a dot for each chunk.
const [location = "", source = "", owner = ""] = process.argv.slice(2);
const store = await openStore(location, { access: "write" });
const { files } = await describeTree(source);
const transfer = createTransfer();
for (let round = 0; ; round += 1) {
  const request = { store, prefix: "runs/a/", hash: "blake3" as const, files, reusable: new Map() };
  await transfer.send({ ...request, owner: `${owner}.${round}`, onProgress: () => process.stdout.write(".") });
}
