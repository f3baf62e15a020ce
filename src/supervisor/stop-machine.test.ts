import { expect, test } from "vitest";
import { StopMachine, type SupervisorState } from "./stop-machine.ts";

const paths: readonly (readonly SupervisorState[])[] = [
  ["noticed", "draining", "saving", "stopped"],
  ["saving", "stopped"],
  ["noticed", "saving", "stopped"],
  ["stopped"],
  ["failed"],
  ["noticed", "draining", "saving", "failed"],
];

test.each(paths)("running → %s is a way through", (...path) => {
  const seen: string[] = [];
  const machine = new StopMachine(({ from, to }) => seen.push(`${from} → ${to}`));
  for (const state of path) machine.to(state);
  expect(machine.state).toBe(path.at(-1));
  expect(seen).toHaveLength(path.length);
});

test.each([
  [["noticed", "draining"], "running"],
  [["saving"], "draining"],
  [["saving", "stopped"], "failed"],
  [["failed"], "stopped"],
  [[], "draining"],
] as const)("after %j there is no way to %s", (path, next) => {
  const machine = new StopMachine(() => {});
  for (const state of path) machine.to(state);
  expect(() => machine.to(next)).toThrow(/cannot go from/);
});
