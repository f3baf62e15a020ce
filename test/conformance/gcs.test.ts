import { afterAll, beforeAll, describe } from "vitest";
import { randomId } from "../../src/core/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { type GcsServer, hasFakeGcsServer, startFakeGcsServer } from "../servers/gcs.ts";
import { startFakeGcsProcess } from "../servers/fake-gcs/index.ts";
import { describeObjectStore } from "./object-store.ts";

function describeOn(name: string, start: () => Promise<Pick<GcsServer, "url" | "createBucket" | "stop">>): void {
  describe(name, () => {
    let server: Awaited<ReturnType<typeof start>>;
    beforeAll(async () => {
      server = await start();
      await server.createBucket("conformance");
    });
    afterAll(() => server.stop());

    describeObjectStore(name, async () => {
      const url = `gs://conformance/${randomId()}/store?endpoint=${server.url}`;
      const open = () => openStore(url, { access: "write" });
      return { store: await open(), openAgain: open, dispose: () => Promise.resolve() };
    });
  });
}

describe.skipIf(!hasFakeGcsServer())("with fake-gcs-server", () => {
  describeOn("fake-gcs-server", () => startFakeGcsServer());
});

describeOn("our fake of GCS", () => startFakeGcsProcess());
