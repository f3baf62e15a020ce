import type { ComputeClass } from "./compute-class.ts";
import type { Pool } from "./pool.ts";

/** Everything that is known about where pods could land. */
export interface Supply {
  readonly pools: readonly Pool[];
  /** There are no pools besides these: they were given as the whole list. */
  readonly isComplete: boolean;
  /** Nodes may be made that no pool declares. */
  readonly hasAutoProvisioning: boolean;
  readonly isAutopilot: boolean;
  readonly classes: ReadonlyMap<string, ComputeClass>;
}
