import { describe, expect, it } from "vitest";
import { parseBucketUrl } from "../bucket-url.ts";
import { endpointOf } from "./endpoint.ts";

const at = (url: string, emulator?: string) => endpointOf(parseBucketUrl(url), { STORAGE_EMULATOR_HOST: emulator });

describe("the endpoint", () => {
  it("is Google's, with credentials, unless told otherwise", () => {
    expect(at("gs://bkt/p")).toMatchObject({
      origin: "https://storage.googleapis.com",
      isGoogle: true,
      wantsCredentials: true,
    });
  });

  it.each([
    ["http://127.0.0.1:4443", "http://127.0.0.1:4443", ""],
    ["localhost:4443", "http://localhost:4443", ""],
    ["http://gcs:80/storage/v1/", "http://gcs", ""],
    ["http://gateway/gcs/", "http://gateway/gcs", "/gcs"],
    ["https://emulator", "https://emulator", ""],
  ])("is the emulator %s, which is shown no credentials", (emulator, origin, basePath) => {
    expect(at("gs://bkt/p", emulator)).toMatchObject({ origin, basePath, isGoogle: false, wantsCredentials: false });
  });

  it("may stand in the URL, and gets credentials over TLS only", () => {
    expect(at("gs://bkt/p?endpoint=http://127.0.0.1:9", "http://other")).toMatchObject({
      origin: "http://127.0.0.1:9",
      hostname: "127.0.0.1",
      port: "9",
      wantsCredentials: false,
    });
    expect(at("gs://bkt/p?endpoint=http://gcs.internal").wantsCredentials).toBe(false);
    expect(at("gs://bkt/p?endpoint=https://storage.us-central1.rep.googleapis.com")).toMatchObject({
      isGoogle: true,
      wantsCredentials: true,
    });
    expect(at("gs://bkt/p?endpoint=http://[::1]:9").hostname).toBe("::1");
  });

  it.each(["ftp://x", "nonsense", "http://user:secret@host"])("cannot be %s, and says so without showing it", (bad) => {
    expect(() => at(`gs://bkt/p?endpoint=${bad}`)).toThrow(/the store gs:\/\/bkt\/p(\?\S*)? cannot be used/);
    expect(() => at(`gs://bkt/p?endpoint=${bad}`)).not.toThrow(/secret/);
  });
});
