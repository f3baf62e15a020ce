/** What the child is told through its environment. */
export interface ChildFacts {
  readonly run: string;
  readonly attempt: number;
  /** Which part of the run it is: `i/n`, or `restore-only`. */
  readonly role: string | undefined;
  /** Absolute path. */
  readonly checkpointDir: string;
  readonly resumeStep: number | undefined;
  readonly resumePath: string | undefined;
  readonly socketPath: string | undefined;
  readonly saveIntervalMs: number | undefined;
  readonly saveIntervalSteps: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The child's environment: `base` with our variables set, and those that do not apply taken out (an outer run may have set them). */
export function childEnvironment(base: Environment, facts: ChildFacts): Record<string, string> {
  const ours: Environment = {
    OUTLAST_RUN: facts.run,
    OUTLAST_ATTEMPT: String(facts.attempt),
    OUTLAST_CHECKPOINT_DIR: facts.checkpointDir,
    OUTLAST_ROLE: facts.role,
    OUTLAST_RESUME_STEP: asText(facts.resumeStep),
    OUTLAST_RESUME_PATH: facts.resumePath,
    OUTLAST_SOCKET: facts.socketPath,
    OUTLAST_SAVE_INTERVAL_SECONDS: asText(
      facts.saveIntervalMs === undefined ? undefined : Number((facts.saveIntervalMs / 1000).toFixed(3)),
    ),
    OUTLAST_SAVE_INTERVAL_STEPS: asText(facts.saveIntervalSteps),
  };
  const all = Object.entries({ ...base, ...ours });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function asText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
