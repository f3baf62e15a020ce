import { assertNever, type Clock } from "../core/index.ts";
import type { HandlingMode } from "./chunk-at-work.ts";
import { ChildHandler } from "./child-handler.ts";
import { HttpHandler } from "./http-handler.ts";
import type { HandlerTalk, ItemHandler } from "./item-handler.ts";
import type { HandlerSpec } from "./types.ts";

export interface MakeHandlerOptions {
  readonly isBatch: boolean;
  readonly chunk: number;
  readonly maxResultBytes: number;
  readonly itemTimeoutMs: number | undefined;
  readonly patienceMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  readonly clock: Clock;
  readonly talk: HandlerTalk;
}

/** The handler that a spec names; processes are started when they get their first items. */
export function makeHandler(spec: HandlerSpec, options: MakeHandlerOptions): ItemHandler {
  const { env, cwd } = options;
  switch (spec.kind) {
    case "command":
      return new ChildHandler({ ...options, program: { command: spec.command, env, cwd, answersOn: 1 } });
    case "module": {
      const mode = options.isBatch ? "batch" : "items";
      const command = [process.execPath, ...runnerFlags(), runnerPath(), spec.path, mode];
      return new ChildHandler({ ...options, program: { command, env, cwd, answersOn: 3 } });
    }
    case "http":
      return new HttpHandler({ ...options, url: spec.url });
    default:
      return assertNever(spec);
  }
}

/** How a handler goes about a chunk. */
export function handlingMode(spec: HandlerSpec, isBatch: boolean): HandlingMode {
  if (isBatch) return "together";
  return spec.kind === "http" ? "parallel" : "serial";
}

/** Beside this file, with its extension: `.ts` in a checkout, `.js` in the package. */
function runnerPath(): string {
  const extension = import.meta.filename.endsWith(".ts") ? "ts" : "js";
  return `${import.meta.dirname}/runner.${extension}`;
}

/** Node 22 reads TypeScript without a word only when asked to. */
function runnerFlags(): readonly string[] {
  return ["--disable-warning=ExperimentalWarning"];
}
