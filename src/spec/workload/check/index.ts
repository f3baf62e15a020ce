import { checkAccelerator } from "./accelerator.ts";
import { checkCapacity } from "./capacity.ts";
import { checkEnvironment } from "./environment.ts";
import type { Check } from "./finding.ts";
import { checkPriority } from "./priority.ts";
import { checkStorage } from "./storage.ts";
import { checkWork } from "./work.ts";

/** Everything that is looked for in a workload whose shape is right. */
export const checks: readonly Check[] = [
  checkAccelerator,
  checkCapacity,
  checkStorage,
  checkWork,
  checkEnvironment,
  checkPriority,
];
