import { resolve } from "node:path";
import { OutlastError } from "../core/index.ts";
import { redactUrl } from "./redact-url.ts";

/** The user's table and where an item's id and result go in it. */
export interface ResultsTable {
  /** As the user wrote it; unquoted. */
  readonly table: string;
  /** The schema before the dot, where one was given (Postgres only). */
  readonly schema: string | undefined;
  readonly idColumn: string;
  /** The whole result as JSON in one column, or fields of the result object in columns of their own. */
  readonly fields:
    | { readonly kind: "whole"; readonly column: string }
    | { readonly kind: "columns"; readonly columns: readonly string[] };
}

/** A database that can hold results. */
export type ResultsAddress =
  | {
      readonly kind: "sqlite";
      /** Absolute. */
      readonly path: string;
      readonly results: ResultsTable;
      /** Two addresses with the same key name the same database. */
      readonly database: string;
      /** For logs and errors: without a password. */
      readonly shown: string;
    }
  | {
      readonly kind: "postgres";
      /** The URL for the Postgres client, password and all: our own parameters are taken out, the others are left. */
      readonly connection: string;
      readonly results: ResultsTable;
      readonly database: string;
      readonly shown: string;
    };

/** Google Pub/Sub as a queue. */
export interface PubSubAddress {
  readonly kind: "pubsub";
  readonly project: string;
  readonly subscription: string;
  readonly topic: string;
  readonly database: string;
  readonly shown: string;
}

/** Where messages wait. */
export type QueueAddress = ResultsAddress | PubSubAddress;

const ownParameters = ["table", "id", "result", "columns"] as const;

/**
 * Reads the URL of a queue.
 *
 * @example
 * parseQueueUrl("pubsub://my-project/images-sub?topic=images");
 */
export function parseQueueUrl(url: string): QueueAddress {
  return /^pubsub:/i.test(url) ? parsePubSub(url) : parseDatabase(url, "queue");
}

/**
 * Reads the URL of a results database.
 *
 * @example
 * parseResultsUrl("sqlite:out.db?table=labels&id=image&columns=label,score");
 */
export function parseResultsUrl(url: string): ResultsAddress {
  if (/^pubsub:/i.test(url)) {
    throw usage(url, "Pub/Sub holds messages, not results", "give --results sqlite:PATH or postgres://…?table=NAME");
  }
  return parseDatabase(url, "results");
}

/** Whether two addresses name one database, so that a result and its ack can be one transaction. */
export function isSameDatabase(one: QueueAddress, other: QueueAddress): boolean {
  return one.database === other.database;
}

function parseDatabase(url: string, what: "queue" | "results"): ResultsAddress {
  if (/^sqlite:/i.test(url)) return parseSqlite(url);
  if (/^postgres(ql)?:\/\//i.test(url)) return parsePostgres(url);
  const kinds = what === "queue" ? "sqlite:PATH, postgres://… or pubsub://…" : "sqlite:PATH or postgres://…?table=NAME";
  if (url === "") throw usage(url, `the ${what} URL is empty`, `give ${kinds}`);
  throw usage(
    url,
    `${redactUrl(url)} is not the URL of a ${what === "queue" ? "queue" : "results database"}`,
    `give ${kinds}`,
  );
}

function parseSqlite(url: string): ResultsAddress {
  const rest = url.slice("sqlite:".length);
  const mark = rest.indexOf("?");
  const named = mark < 0 ? rest : rest.slice(0, mark);
  const parameters = new URLSearchParams(mark < 0 ? "" : rest.slice(mark + 1));
  const hint = "give a file, as sqlite:work.db or sqlite:/var/lib/work.db";
  if (named === "") throw usage(url, `${url} names no file`, hint);
  if (named.startsWith(":")) throw usage(url, `${url} is not a file: workers could not share it`, hint);
  if (named.startsWith("//") && !named.startsWith("///")) {
    throw usage(url, `${url} names a host, and SQLite has none`, `${hint}; an absolute path takes one slash or three`);
  }
  const unknown = [...parameters.keys()].find((key) => !isOwn(key));
  if (unknown !== undefined) {
    throw usage(url, `${url}: "${unknown}" is not known`, `known are ${ownParameters.join(", ")}`);
  }
  const path = resolve(named.startsWith("///") ? named.slice(2) : named);
  return {
    kind: "sqlite",
    path,
    results: { ...readTable(url, parameters), schema: undefined, table: parameters.get("table") ?? "results" },
    database: `sqlite:${path}`,
    shown: url,
  };
}

function parsePostgres(url: string): ResultsAddress {
  const shown = redactUrl(url);
  let parsed: URL;
  try {
    // "postgres://me@/jobs?host=/run/postgresql" is what Postgres's own tools take, and not a URL by the letter.
    parsed = new URL(url.replace(/^([a-z]+:\/\/[^/?#]*@)(?=[/?#]|$)/i, "$1localhost"));
  } catch {
    // Not given as the cause: it would show the password.
    throw usage(
      url,
      `${shown} is not a URL`,
      "give postgres://USER@HOST:5432/DATABASE; percent-encode special characters",
    );
  }
  const results = readTable(url, parsed.searchParams);
  for (const key of ownParameters) parsed.searchParams.delete(key);
  const database = decodeURIComponent(parsed.pathname.slice(1)) || decodeURIComponent(parsed.username);
  // A socket directory comes as ?host=/var/run/postgresql.
  const host = (parsed.searchParams.get("host") ?? decodeURIComponent(parsed.hostname)) || "localhost";
  const port = (parsed.searchParams.get("port") ?? parsed.port) || "5432";
  return {
    kind: "postgres",
    connection: parsed.href,
    results,
    database: `postgres:${host.toLowerCase()}:${port}/${database}`,
    shown,
  };
}

function parsePubSub(url: string): PubSubAddress {
  const hint = "give pubsub://PROJECT/SUBSCRIPTION?topic=TOPIC";
  const match = /^pubsub:\/\/([^/?#]+)\/([^/?#]+)\/?(?:\?([^#]*))?$/i.exec(url);
  const [, project, subscription, query] = match ?? [];
  if (!project || !subscription) throw usage(url, `${redactUrl(url)} does not name a project and a subscription`, hint);
  const parameters = new URLSearchParams(query ?? "");
  const unknown = [...parameters.keys()].find((key) => key !== "topic");
  if (unknown !== undefined) throw usage(url, `${url}: "${unknown}" is not known`, "known is topic");
  const topic = parameters.get("topic") || undefined;
  if (topic === undefined) throw usage(url, `${url} does not say its topic`, hint);
  for (const name of [topic, subscription]) {
    if (/^[A-Za-z][A-Za-z0-9\-_.~+%]{2,254}$/.test(name) && !name.startsWith("goog")) continue;
    throw usage(
      url,
      `"${name}" is not a name Pub/Sub allows`,
      "3 to 255 letters, digits or -_.~+%, a letter first, not goog…",
    );
  }
  return { kind: "pubsub", project, subscription, topic, database: `pubsub:${project}/${subscription}`, shown: url };
}

function readTable(url: string, parameters: URLSearchParams): ResultsTable {
  for (const key of ownParameters) {
    const values = parameters.getAll(key);
    if (values.length > 1) throw usage(url, `${redactUrl(url)} gives "${key}" twice`, "give it once");
    if (values[0] === "") throw usage(url, `${redactUrl(url)} gives an empty "${key}"`, "give a name or leave it out");
  }
  const named = parameters.get("table") ?? "results";
  const dot = named.indexOf(".");
  const schema = dot < 0 ? undefined : named.slice(0, dot);
  const table = named.slice(dot + 1);
  const idColumn = parameters.get("id") ?? "id";
  const result = parameters.get("result");
  const listed = parameters.get("columns");
  if (result !== null && listed !== null) {
    throw usage(
      url,
      `${redactUrl(url)} gives both "result" and "columns"`,
      "result takes the whole answer, columns its fields",
    );
  }
  const columns = listed?.split(",").map((name) => name.trim());
  const names = [table, idColumn, result ?? "result", ...(schema === undefined ? [] : [schema]), ...(columns ?? [])];
  for (const name of names) {
    if (name !== "" && name.length <= 63 && !name.includes("\0")) continue;
    throw usage(url, `"${name}" cannot be the name of a table or column`, "give 1 to 63 characters");
  }
  if (/^(outlast_|sqlite_)/i.test(table)) {
    throw usage(
      url,
      `the table name "${table}" is reserved`,
      "choose one that does not begin with outlast_ or sqlite_",
    );
  }
  const taken = new Set([idColumn]);
  for (const name of columns ?? [result ?? "result"]) {
    if (taken.has(name))
      throw usage(url, `the column "${name}" is named twice in ${redactUrl(url)}`, "name each column once");
    taken.add(name);
  }
  return {
    table,
    schema,
    idColumn,
    fields: columns ? { kind: "columns", columns } : { kind: "whole", column: result ?? "result" },
  };
}

function isOwn(key: string): boolean {
  return ownParameters.some((own) => own === key);
}

function usage(url: string, message: string, hint: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", message, { operation: "open", target: redactUrl(url), hint });
}
