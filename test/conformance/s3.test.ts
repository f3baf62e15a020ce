import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { randomId } from "../../src/core/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { startFlippingProxy } from "../s3/flipping-proxy.ts";
import { hasMoto, hasVersitygw, type S3Server, startMoto, startVersitygw } from "../servers/s3.ts";
import { describeObjectStore } from "./object-store.ts";

// Hundreds of requests to a server in another process: on a busy machine they need their time.
vi.setConfig({ testTimeout: 120_000 });

function describeServer(name: string, start: () => Promise<S3Server>, more?: (bucket: () => string) => void): void {
  let server: S3Server;
  let bucket: string;
  beforeAll(async () => {
    server = await start();
    Object.assign(process.env, server.env);
    bucket = await server.createBucket("conformance");
  });
  afterAll(() => server.stop());

  describeObjectStore(name, async () => {
    // A prefix for each test in one bucket: making buckets is slow on some servers.
    const url = bucket.replace("/runs?", `/${randomId()}?`);
    const openAgain = () => openStore(url, { access: "write" });
    return { store: await openAgain(), openAgain, dispose: () => Promise.resolve() };
  });

  more?.(() => bucket);
}

describe.skipIf(!hasVersitygw())("versitygw", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "outlast-s3-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  describeServer(
    "versitygw",
    () => startVersitygw({ folder }),
    (bucket) => {
      // moto compares no checksums; what it would let pass is shown here alone.
      it("finds bytes that were changed on the way, in either direction", async () => {
        const proxy = await startFlippingProxy(new URL(endpointOf(bucket())).origin);
        try {
          const store = await openStore(`s3://conformance/flips?endpoint=${proxy.url}`, { access: "write" });
          const body = new TextEncoder().encode("as it was");
          proxy.flip = "requests";
          await expect(store.put("a", body)).rejects.toMatchObject({
            recovery: "retry",
            message: expect.stringContaining("changed on the way"),
          });
          await expect(store.putIfAbsent("a", body)).rejects.toMatchObject({ recovery: "retry" });
          proxy.flip = "nothing";
          await expect(store.get("a")).rejects.toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND" });
          expect(await store.putIfAbsent("a", body)).toBe("created");
          proxy.flip = "answers";
          await expect(store.get("a")).rejects.toMatchObject({
            recovery: "retry",
            message: expect.stringContaining("checksum"),
          });
          proxy.flip = "nothing";
          expect(await store.get("a")).toEqual(Buffer.from(body));
        } finally {
          await proxy.stop();
        }
      });

      it("lists more than a page of objects and of folders", async () => {
        const names = Array.from({ length: 1005 }, (_, i) => String(i).padStart(5, "0"));
        for (const name of names) {
          await mkdir(join(folder, "conformance/many", name), { recursive: true });
          await writeFile(join(folder, "conformance/many", name, "x"), name);
        }
        const store = await openStore(bucket().replace("/runs?", "/many?"), { access: "read" });
        const keys: string[] = [];
        for await (const { key, size } of store.list("")) if (size === 5) keys.push(key);
        expect(keys).toEqual(names.map((name) => `${name}/x`));
        const folders: string[] = [];
        for await (const name of store.folders("")) folders.push(name);
        expect(folders).toEqual(names.map((name) => `${name}/`));
      });

      it("says what is wrong with the credentials or the bucket", async () => {
        const open = (url: string) => openStore(url, { access: "write" });
        await expect(open(bucket().replace("conformance", "nowhere"))).rejects.toMatchObject({
          code: "OUTLAST_BUCKET_MISSING",
        });
        const secret = process.env["AWS_SECRET_ACCESS_KEY"];
        process.env["AWS_SECRET_ACCESS_KEY"] = "not-it";
        try {
          await expect(open(bucket())).rejects.toMatchObject({ code: "OUTLAST_STORE_DENIED" });
        } finally {
          process.env["AWS_SECRET_ACCESS_KEY"] = secret;
        }
      });
    },
  );
});

describe.skipIf(!hasMoto())("moto", () => {
  describeServer("moto", startMoto);
});

function endpointOf(url: string): string {
  return new URLSearchParams(url.split("?")[1]).get("endpoint") ?? "";
}
