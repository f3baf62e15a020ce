const told = new Set<string>();

/** Whether a test's server or library is present; when not, says once what to install, or throws if skipping is forbidden. */
export function needs(what: string, present: boolean, install: string): boolean {
  if (present) return true;
  const line = `skipped: needs ${what}: ${install}`;
  if (process.env["OUTLAST_NO_SKIP"]) throw new Error(line);
  if (!told.has(line)) process.stderr.write(`${line}\n`);
  told.add(line);
  return false;
}
