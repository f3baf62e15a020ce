import type { IncomingMessage } from "node:http";
import { abortable } from "../abortable.ts";
import type { TokenSource } from "./credentials.ts";
import type { Endpoint } from "./endpoint.ts";
import { exchange, type HttpCall, type Sink } from "./exchange.ts";
import { HttpFailure } from "./http-failure.ts";

/** What {@link JsonApi} needs. */
export interface ApiOptions {
  readonly endpoint: Endpoint;
  readonly tokens: TokenSource;
  /** How long a connection may stand still. */
  readonly idleMs: number;
}

/** A request, less what is the same for all. */
export type ApiCall = Omit<HttpCall, "endpoint" | "idleMs" | "headers"> & Partial<Pick<HttpCall, "headers">>;

/** Authorised requests to one Cloud Storage server. */
export class JsonApi {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** Sends a request; once more with a new token where the old one is no longer taken. */
  async send<T>(call: ApiCall, receive: (response: IncomingMessage) => Sink<T>): Promise<T> {
    const { tokens } = this.#options;
    const authorisation = await abortable(tokens.headers(), call.signal);
    try {
      return await this.#exchange(call, authorisation, receive);
    } catch (error) {
      if (!(error instanceof HttpFailure && error.status === 401)) throw error;
      tokens.refused(authorisation);
      const renewed = await abortable(tokens.headers(), call.signal);
      if (renewed["authorization"] === authorisation["authorization"]) throw error;
      return this.#exchange(call, renewed, receive);
    }
  }

  #exchange<T>(
    call: ApiCall,
    authorisation: Readonly<Record<string, string>>,
    receive: (response: IncomingMessage) => Sink<T>,
  ): Promise<T> {
    const { endpoint, idleMs } = this.#options;
    call.signal?.throwIfAborted();
    const headers = { "user-agent": "outlast", ...call.headers, ...authorisation };
    return exchange({ ...call, headers, endpoint, idleMs }, receive);
  }
}
