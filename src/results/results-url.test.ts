import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { redactUrl } from "./redact-url.ts";
import { isSameDatabase, parseQueueUrl, parseResultsUrl } from "./results-url.ts";

describe("SQLite URLs", () => {
  it("name a file, relative or absolute", () => {
    expect(parseResultsUrl("sqlite:work.db")).toMatchObject({ kind: "sqlite", path: resolve("work.db") });
    expect(parseResultsUrl("sqlite:/var/lib/a b.db")).toMatchObject({ path: "/var/lib/a b.db" });
    expect(parseResultsUrl("sqlite:///var/lib/w.db")).toMatchObject({ path: "/var/lib/w.db" });
    expect(parseQueueUrl("SQLITE:./x.db")).toMatchObject({ path: resolve("x.db") });
  });

  it("have a table of results unless told otherwise", () => {
    expect(parseResultsUrl("sqlite:w.db").results).toEqual({
      table: "results",
      schema: undefined,
      idColumn: "id",
      fields: { kind: "whole", column: "result" },
    });
    expect(parseResultsUrl("sqlite:w.db?table=my.labels&id=image&columns=label, score").results).toEqual({
      table: "my.labels",
      schema: undefined,
      idColumn: "image",
      fields: { kind: "columns", columns: ["label", "score"] },
    });
    expect(parseResultsUrl("sqlite:w.db?result=answer").results.fields).toEqual({ kind: "whole", column: "answer" });
  });

  it.each([
    ["sqlite:", "names no file"],
    ["sqlite:?table=x", "names no file"],
    ["sqlite::memory:", "not a file"],
    ["sqlite://host/w.db", "names a host"],
    ["sqlite:w.db?tabel=x", '"tabel" is not known'],
    ["sqlite:w.db?table=", "empty"],
    ["sqlite:w.db?table=a&table=b", "twice"],
    ["sqlite:w.db?result=a&columns=b", "both"],
    ["sqlite:w.db?columns=a,,b", "cannot be the name"],
    ["sqlite:w.db?columns=a,a", "named twice"],
    ["sqlite:w.db?id=result", "named twice"],
    ["sqlite:w.db?table=outlast_items", "reserved"],
    ["sqlite:w.db?table=sqlite_schema", "reserved"],
    ["", "is empty"],
    ["mysql://h/d", "not the URL"],
    ["work.db", "not the URL"],
  ])("refuses %s", (url, message) => {
    expect(() => parseResultsUrl(url)).toThrow(message);
    expect(() => parseQueueUrl(url)).toThrow(message);
  });
});

describe("Postgres URLs", () => {
  it("lose our parameters and keep the client's", () => {
    const address = parseResultsUrl(
      "postgres://me:pw@db.example:6432/jobs?sslmode=require&table=out.labels&id=k&columns=a,b",
    );
    expect(address).toMatchObject({
      kind: "postgres",
      connection: "postgres://me:pw@db.example:6432/jobs?sslmode=require",
      database: "postgres:db.example:6432/jobs",
      results: { table: "labels", schema: "out", idColumn: "k", fields: { kind: "columns", columns: ["a", "b"] } },
    });
  });

  it("are the same database by host, port and name", () => {
    const queue = parseQueueUrl("postgres://worker:a@DB/jobs");
    expect(isSameDatabase(queue, parseResultsUrl("postgresql://owner:b@db:5432/jobs?table=labels"))).toBe(true);
    expect(isSameDatabase(queue, parseResultsUrl("postgres://db:5433/jobs"))).toBe(false);
    expect(isSameDatabase(queue, parseResultsUrl("postgres://db/other"))).toBe(false);
    expect(isSameDatabase(queue, parseResultsUrl("sqlite:jobs"))).toBe(false);
    expect(isSameDatabase(parseQueueUrl("sqlite:a.db"), parseResultsUrl("sqlite:./a.db?table=t"))).toBe(true);
  });

  it("take a socket directory and a database named like the user", () => {
    expect(parseQueueUrl("postgres://me@/?host=/var/run/postgresql").database).toBe(
      "postgres:/var/run/postgresql:5432/me",
    );
  });

  it("never show a password", () => {
    for (const url of [
      "postgres://me:s3cret@db/jobs",
      "postgres://me:s3c/r@et@db:x/jobs",
      "postgres://me@db/jobs?password=s3cret&x=1",
      "postgres://:s3cret@db/jobs",
    ]) {
      let shown: string;
      try {
        shown = parseResultsUrl(url).shown;
      } catch (error) {
        shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
      }
      expect(shown).not.toMatch(/s3c|cret/);
      expect(redactUrl(url)).not.toMatch(/s3c|cret/);
    }
    expect(redactUrl("postgres://me:pw@db:5432/jobs?table=x")).toBe("postgres://me:***@db:5432/jobs?table=x");
    expect(redactUrl("sqlite:w.db")).toBe("sqlite:w.db");
  });
});

describe("Pub/Sub URLs", () => {
  it("name a project, a subscription and a topic", () => {
    expect(parseQueueUrl("pubsub://my-project/images-sub?topic=images")).toMatchObject({
      kind: "pubsub",
      project: "my-project",
      subscription: "images-sub",
      topic: "images",
    });
  });

  it.each([
    ["pubsub://my-project", "project and a subscription"],
    ["pubsub://my-project/sub", "topic"],
    ["pubsub://my-project/sub?topic=", "topic"],
    ["pubsub://p/sub?topic=images&ack=10", '"ack" is not known'],
    ["pubsub://p/1sub?topic=images", "not a name"],
    ["pubsub://p/sub?topic=goog-x", "not a name"],
  ])("refuses %s", (url, message) => {
    expect(() => parseQueueUrl(url)).toThrow(message);
  });

  it("holds no results", () => {
    expect(() => parseResultsUrl("pubsub://p/sub?topic=t")).toThrow("not results");
  });
});
