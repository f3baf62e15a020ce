import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { HashClaims } from "./hash-claims.ts";

const hashOf = (value: number) => createHash("sha256").update(String(value)).digest();

describe("HashClaims", () => {
  it("gives each hash to its first claimant only", () => {
    const claims = HashClaims.forCount(1000);
    for (let i = 0; i < 1000; i += 1) expect(claims.claim(hashOf(i))).toBe(true);
    for (let i = 0; i < 1000; i += 1) expect(claims.claim(hashOf(i))).toBe(false);
  });

  it("tells hashes apart that begin alike", () => {
    const claims = HashClaims.forCount(4);
    const [a, b] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(7)];
    b[31] = 8;
    expect([claims.claim(a), claims.claim(b), claims.claim(a), claims.claim(b)]).toEqual([true, true, false, false]);
  });

  it("lets one of several threads win each hash", async () => {
    const claims = HashClaims.forCount(2000);
    const program = `
      import { createHash } from "node:crypto";
      import { parentPort, workerData } from "node:worker_threads";
      const { HashClaims } = await import(workerData.module);
      const claims = new HashClaims(workerData.memory);
      let won = 0;
      for (let i = 0; i < 2000; i += 1) if (claims.claim(createHash("sha256").update(String(i)).digest())) won += 1;
      parentPort.postMessage(won);`;
    const module = new URL("./hash-claims.ts", import.meta.url).href;
    const won = await Promise.all(
      Array.from({ length: 3 }, () => {
        const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
        const worker = new Worker(url, { workerData: { module, memory: claims.memory }, execArgv: [] });
        return new Promise<number>((resolve, reject) => {
          worker.on("message", resolve);
          worker.on("error", reject);
        });
      }),
    );
    expect(won.reduce((sum, count) => sum + count)).toBe(2000);
  });
});
