/** Short: after an eviction the machine itself may be gone in a second. */
const patienceMs = 500;

/** Lets the process end by itself with `code`; complains and ends it when something keeps it alive. */
export function watchExit(code: number): void {
  process.exitCode = code;
  const timer = setTimeout(() => {
    const resources = process.getActiveResourcesInfo();
    const kept = [...new Set(resources)].filter((name) => name !== "Timeout" || resources.length > 1).join(", ");
    process.stderr.write(`outlast: warning: something kept the process alive after its work was done: ${kept}\n`);
    process.exit(code);
  }, patienceMs);
  timer.unref();
}
