import type { AuthClient } from "google-auth-library";
import type { Clock } from "../../core/index.ts";
import { credentialError } from "./credential-error.ts";
import { findDefaultClient } from "./default-client.ts";

/** Where the headers that authorise a request come from. */
export interface TokenSource {
  headers(): Promise<Readonly<Record<string, string>>>;
  /** The server did not take these headers; the next ones will be new. */
  refused(headers: Readonly<Record<string, string>>): void;
}

/** For servers that ask for none. */
export const noCredentials: TokenSource = { headers: () => Promise.resolve({}), refused: () => {} };

/** How {@link GoogleCredentials} are got. */
export interface CredentialOptions {
  readonly access: "read" | "write";
  readonly clock: Clock;
  /** Finds the application's default credentials. @default google-auth-library */
  readonly findClient?: (scope: string) => Promise<AuthClient>;
}

const renewBeforeMs = 5 * 60_000;
const askAgainAfterMs = 30_000;
const stillGoodMs = 10_000;
const patienceMs = 20_000;

interface Held {
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
  readonly renewAtMs: number;
}

/**
 * The application's default credentials: a key file, gcloud's login, or the machine's own service account.
 *
 * Tokens are renewed five minutes before their end. Until that end a failed or hanging renewal changes nothing: on a machine
 * that is being taken away the metadata server may go first.
 */
export class GoogleCredentials implements TokenSource {
  readonly #options: CredentialOptions;
  #client: Promise<AuthClient> | undefined;
  #held: Held | undefined;
  #renewal: Promise<Held> | undefined;

  constructor(options: CredentialOptions) {
    this.#options = options;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { clock } = this.#options;
    const held = this.#held;
    if (held && clock.now() < held.renewAtMs) return held.headers;
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    try {
      return (await this.#withPatience(this.#renewal)).headers;
    } catch (error) {
      if (held && this.#held === held && clock.now() < held.expiresAtMs - stillGoodMs) return held.headers;
      throw credentialError(error, this.#options.access);
    }
  }

  refused(headers: Readonly<Record<string, string>>): void {
    if (this.#held?.headers !== headers) return;
    this.#held = undefined;
    this.#client = undefined;
  }

  async #renew(): Promise<Held> {
    const { clock, access, findClient = findDefaultClient } = this.#options;
    this.#client ??= findClient(
      `https://www.googleapis.com/auth/devstorage.read_${access === "read" ? "only" : "write"}`,
    );
    let client: AuthClient;
    try {
      client = await this.#client;
    } catch (error) {
      // What was not found now may be there soon: the metadata server of a new pod needs a few seconds.
      this.#client = undefined;
      throw error;
    }
    const headers = Object.fromEntries(await client.getRequestHeaders());
    const now = clock.now();
    const expiresAtMs = client.credentials.expiry_date ?? now;
    // A server that hands out nearly used-up tokens is not asked before every request.
    const renewAtMs = Math.max(expiresAtMs - renewBeforeMs, Math.min(now + askAgainAfterMs, expiresAtMs - stillGoodMs));
    this.#held = { headers, expiresAtMs, renewAtMs };
    return this.#held;
  }

  /** The library waits for the metadata server for ever. */
  async #withPatience(renewal: Promise<Held>): Promise<Held> {
    const done = new AbortController();
    const tooLong = this.#options.clock.sleep(patienceMs, done.signal).then((): never => {
      throw new Error(`no access token came within ${patienceMs / 1000} s`);
    });
    // Ends with the sleep that is cut short below.
    tooLong.catch(() => {});
    try {
      return await Promise.race([renewal, tooLong]);
    } finally {
      done.abort();
    }
  }
}
