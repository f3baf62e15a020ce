import { expect, test } from "vitest";
import { decodeCheckpoint, encodeCheckpoint } from "./checkpoint-file.ts";
import { Model } from "./model.ts";

test("a checkpoint holds everything: training goes on with the same bits", () => {
  const straight = Model.create(7);
  const first = Model.create(7);
  for (let i = 0; i < 12; i += 1) straight.train();
  for (let i = 0; i < 5; i += 1) first.train();
  const resumed = Model.resume(decodeCheckpoint(encodeCheckpoint(first.state())));
  for (let i = 0; i < 7; i += 1) resumed.train();
  expect(encodeCheckpoint(resumed.state()).equals(encodeCheckpoint(straight.state()))).toBe(true);
});

test("forgetting any part of the state shows in the result", () => {
  const model = Model.create(7);
  for (let i = 0; i < 5; i += 1) model.train();
  const saved = decodeCheckpoint(encodeCheckpoint(model.state()));
  model.train();
  const wanted = encodeCheckpoint(model.state());
  const forgotten = [
    { ...saved, random: saved.random + 1 },
    { ...saved, step: 0 },
    {
      ...saved,
      tensors: new Map([...saved.tensors, ["m.w2", new Float64Array(saved.tensors.get("m.w2")?.length ?? 0)]]),
    },
  ];
  for (const state of forgotten) {
    const copy = Model.resume({
      ...state,
      tensors: new Map([...state.tensors].map(([name, one]) => [name, one.slice()])),
    });
    copy.train();
    expect(encodeCheckpoint(copy.state()).equals(wanted)).toBe(false);
  }
});

test("it really learns", () => {
  const model = Model.create(7);
  const mean = (n: number) => Array.from({ length: n }, () => model.train()).reduce((a, b) => a + b) / n;
  const before = mean(10);
  mean(200);
  expect(mean(10)).toBeLessThan(before / 4);
});

test("the file is a valid safetensors file", () => {
  const bytes = encodeCheckpoint(Model.create(1).state());
  const end = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, end)) as Record<string, { data_offsets?: [number, number] }>;
  const last = Math.max(...Object.values(header).map((entry) => entry.data_offsets?.[1] ?? 0));
  expect(end % 8).toBe(0);
  expect(end + last).toBe(bytes.length);
});
