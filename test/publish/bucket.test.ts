import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openQueueParts, publish, type QueueParts } from "../../src/queue/index.ts";
import { hasFakeGcsServer, startFakeGcsServer } from "../servers/gcs.ts";
import { hasVersitygw, startVersitygw } from "../servers/s3.ts";

/** Names that other programs give their objects; none may be lost. */
const names = ["a.jpg", "deep/b.jpg", "with blank.jpg", "1+1=2 & %.jpg", "größe/日本.jpg"];

let dir: string;
let parts: QueueParts;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-bucket-"));
  parts = await openQueueParts(`sqlite:${join(dir, "jobs.db")}`);
  await parts.ledger.prepare();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await parts.ledger.close();
  await rm(dir, { recursive: true, force: true });
});

async function publishedData(from: string): Promise<unknown[]> {
  expect(await publish({ ...parts, from: [from] })).toMatchObject({ added: names.length, bad: 0, isComplete: true });
  return (await parts.ledger.lease(100, 1000, "reader")).map(({ data }) => data);
}

const wanted = (scheme: string) => names.map((name) => ({ url: `${scheme}://pictures/in/${name}`, size: 3 }));

describe.skipIf(!hasFakeGcsServer())("Google Cloud Storage", () => {
  test("every object below the prefix is an item, whatever its name", async () => {
    const server = await startFakeGcsServer();
    try {
      for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
      await server.createBucket("pictures");
      for (const name of [...names.map((one) => `in/${one}`), "elsewhere/c.jpg"]) {
        const query = `uploadType=media&name=${encodeURIComponent(name)}`;
        const answer = await fetch(`${server.url}/upload/storage/v1/b/pictures/o?${query}`, {
          method: "POST",
          body: "xyz",
        });
        expect(answer.status).toBe(200);
      }
      const data = await publishedData("gs://pictures/in");
      expect(data).toEqual(expect.arrayContaining(wanted("gs")));
    } finally {
      await server.stop();
    }
  });
});

describe.skipIf(!hasVersitygw())("S3", () => {
  test("every object below the prefix is an item, whatever its name", async () => {
    const server = await startVersitygw();
    try {
      for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
      await server.createBucket("pictures");
      const client = new S3Client({ endpoint: server.url, region: "us-east-1", forcePathStyle: true });
      for (const name of [...names.map((one) => `in/${one}`), "elsewhere/c.jpg"]) {
        await client.send(new PutObjectCommand({ Bucket: "pictures", Key: name, Body: "xyz" }));
      }
      client.destroy();
      const data = await publishedData(`s3://pictures/in?endpoint=${server.url}`);
      expect(data).toEqual(expect.arrayContaining(wanted("s3")));
    } finally {
      await server.stop();
    }
  });
});
