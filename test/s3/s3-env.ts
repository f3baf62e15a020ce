import { join } from "node:path";

/** Credentials for a server that checks none, and nothing of this machine's own settings. */
export function useTestCredentials(overrides: Readonly<Record<string, string | undefined>> = {}): void {
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  const nowhere = join(import.meta.dirname, "no-such-file");
  const env = {
    AWS_ACCESS_KEY_ID: "test-key",
    AWS_SECRET_ACCESS_KEY: "test-secret",
    AWS_CONFIG_FILE: nowhere,
    AWS_SHARED_CREDENTIALS_FILE: nowhere,
    AWS_EC2_METADATA_DISABLED: "true",
    ...overrides,
  };
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}
