/** What a child may say. */
export type ChildMessage =
  | { readonly type: "step"; readonly step: number }
  | { readonly type: "saved"; readonly path: string | undefined; readonly step: number | undefined }
  | { readonly type: "finished" };

/** What the supervisor says. */
export type SupervisorMessage =
  | {
      readonly type: "hello";
      readonly version: 1;
      readonly run: string;
      readonly attempt: number;
      readonly resume_step: number | null;
      readonly resume_path: string | null;
      readonly save_interval_seconds: number | null;
      readonly save_interval_steps: number | null;
    }
  | {
      readonly type: "notice";
      readonly reason: string;
      /** Seconds until the child is killed at the latest. */
      readonly deadline: number;
    }
  | { readonly type: "save"; readonly reason: "interval" | "ends-at" };

/** Reads one line from a child; a text says what is wrong with it. */
export function parseChildMessage(line: string): ChildMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "it is not JSON";
  }
  if (typeof value !== "object" || value === null) return "it is not an object";
  const message: { readonly type?: unknown; readonly step?: unknown; readonly path?: unknown } = value;
  const { type, step, path } = message;
  switch (type) {
    case "step":
      return isStep(step) ? { type, step } : '"step" must be a whole number from 0 on';
    case "saved":
      if (step !== undefined && step !== null && !isStep(step)) return '"step" must be a whole number from 0 on';
      if (path !== undefined && path !== null && (typeof path !== "string" || path === ""))
        return '"path" must be a text';
      return { type, path: typeof path === "string" ? path : undefined, step: isStep(step) ? step : undefined };
    case "finished":
      return { type };
    default:
      return typeof type === "string" ? `"${type}" is not a known type` : 'it has no "type"';
  }
}

function isStep(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
