import { expect, it } from "vitest";
import { createManualSource, type Notice } from "../notice/index.ts";
import { relayNotices } from "./relay-notices.ts";

const evicted: Notice = { source: "manual", kind: "eviction", reason: "test" };
const planned: Notice = { source: "manual", kind: "planned-end", reason: "test", endsAtMs: 1 };

it("tells of a notice to stop before anybody has started it, and hands everything on in order", async () => {
  const manual = createManualSource();
  const { source, noticed } = relayNotices([manual]);
  manual.give(planned);
  manual.give(evicted);
  expect(await noticed).toEqual(evicted);
  const got: Notice[] = [];
  const over = new AbortController();
  source.start((notice) => got.push(notice), over.signal);
  expect(got).toEqual([planned, evicted]);
  manual.give(evicted);
  expect(got.length).toBe(3);
  over.abort();
  manual.give(evicted);
  expect(got.length).toBe(3);
});

it("listens no more once it is told to stop", async () => {
  const manual = createManualSource();
  const relay = relayNotices([manual]);
  relay.stop();
  manual.give(evicted);
  expect(await Promise.race([relay.noticed, Promise.resolve("waiting")])).toBe("waiting");
});

it("a known end is no reason to stop waiting", async () => {
  const manual = createManualSource();
  const { noticed } = relayNotices([manual]);
  manual.give(planned);
  expect(await Promise.race([noticed, Promise.resolve("waiting")])).toBe("waiting");
});
