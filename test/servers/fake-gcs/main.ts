import { startFakeGcs } from "./index.ts";

// node main.ts [PORT] [--one-per-second]
const port = Number(process.argv[2] ?? 0);
const server = await startFakeGcs({ port, onePerSecond: process.argv.includes("--one-per-second") });
process.stdout.write(`${server.url}\n`);
