#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Everything else is imported after this, so that it comes from the cache.
enableCompileCache();

const { processIo } = await import("./process-io.ts");
const { runCli } = await import("./run-cli.ts");
const { watchExit } = await import("./exit-watchdog.ts");

const code = await runCli(process.argv.slice(2), processIo());
watchExit(code);
