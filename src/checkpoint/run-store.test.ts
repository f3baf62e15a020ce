import { expect, it } from "vitest";
import { MemoryStore } from "../testing/index.ts";
import { checkRunName, openRun } from "./run-store.ts";

it("keeps a run's objects below its name, and sees no other run's", async () => {
  const store = new MemoryStore();
  const [run, other] = [openRun(store, "a"), openRun(store, "ab")];
  await run.put("log/1", Buffer.from("one"));
  expect(await run.putIfAbsent("log/1", Buffer.from("two"))).toBe("exists");
  await other.put("log/2", Buffer.from("other"));
  expect([...store.objects.keys()]).toEqual(["a/log/1", "ab/log/2"]);
  const listed: string[] = [];
  for await (const { key } of run.list("")) listed.push(key);
  expect(listed).toEqual(["log/1"]);
  await run.delete("log/1");
  await expect(run.get("log/1")).rejects.toMatchObject({ code: "OUTLAST_OBJECT_NOT_FOUND" });
});

it.each(["", "a/b", "..", ".hidden", "-x", "a b", "ü", "a\n", "x".repeat(101)])(
  "refuses %j as a run's name",
  (name) => {
    expect(() => checkRunName(name)).toThrow(expect.objectContaining({ code: "OUTLAST_USAGE", exitCode: 2 }));
  },
);

it.each(["a", "Run-1.x_y", "0", "x".repeat(100)])("takes %j as a run's name", (name) => {
  expect(() => checkRunName(name)).not.toThrow();
});
