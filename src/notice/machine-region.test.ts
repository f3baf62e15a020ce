import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { askMachineRegion, regionOfZone } from "./machine-region.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A metadata server that knows its zone; undefined: it never answers. */
async function metadataHost(zone: string | undefined, status = 200): Promise<string> {
  const started = createServer((request, response) => {
    const isAsked =
      request.url === "/computeMetadata/v1/instance/zone" && request.headers["metadata-flavor"] === "Google";
    if (zone !== undefined) response.writeHead(isAsked ? status : 403).end(`${zone}\n`);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(started.address() as AddressInfo).port}`;
}

const { signal } = new AbortController();

it("asks the metadata server for the zone", async () => {
  const host = await metadataHost("projects/123456/zones/europe-west4-b");
  expect(await askMachineRegion({ host, signal })).toBe("europe-west4");
});

it.each([
  ["projects/1/zones/us-central1-a", "us-central1"],
  ["northamerica-northeast1-c", "northamerica-northeast1"],
  ["us-east-1a", undefined],
  ["", undefined],
  ["<html>", undefined],
])("reads %j as %s", (text, region) => {
  expect(regionOfZone(text)).toBe(region);
});

it("does not know when the server has no such value, does not answer in time, or is not there", async () => {
  expect(await askMachineRegion({ host: await metadataHost("not here", 404), signal })).toBeUndefined();
  server?.close();
  const silent = await metadataHost(undefined);
  expect(await askMachineRegion({ host: silent, signal, timeoutMs: 50 })).toBeUndefined();
  server?.closeAllConnections();
  server?.close();
  expect(await askMachineRegion({ host: silent, signal })).toBeUndefined();
});

it("stops asking when told", async () => {
  const host = await metadataHost(undefined);
  const controller = new AbortController();
  const asked = askMachineRegion({ host, signal: controller.signal, timeoutMs: 60_000 });
  controller.abort();
  expect(await asked).toBeUndefined();
});
