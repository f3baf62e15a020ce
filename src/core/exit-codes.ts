/** Exit codes of the CLI. People script against them: they never change once released. */
export const exitCodes = {
  /** The work is finished. */
  finished: 0,
  /** Something failed. */
  failed: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** `lint` only: a fault of the linter itself, so that it is not taken for findings. */
  internal: 3,
  /** Evicted; start me again and I resume (EX_TEMPFAIL). */
  evicted: 75,
  /** Checkpoints exist but none verifies, or their log is gone: refused to start over silently. */
  noGoodCheckpoint: 76,
  /** A later start of the same run took over. */
  superseded: 77,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** The code a shell reports for a process ended by signal number `n`. */
export function signalExitCode(n: number): number {
  return 128 + n;
}
