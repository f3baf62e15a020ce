import { expect, test } from "vitest";
import { stepOfFile, stepOfFolder } from "./step.ts";

test.each([
  ["step-20", 20],
  ["iter_0000100", 100],
  ["20", 20],
  ["release", undefined],
  ["checkpoint_3", 3],
  ["99999999999999999999", undefined],
])("folder %s: %s", (name, step) => expect(stepOfFolder(name)).toBe(step));

test.each([
  ["ckpt_100.pt", 100],
  ["model-step=1200-loss=0.5.pt", 1200],
  ["epoch_3.pth", 3],
  ["ep2-ba100-rank0.pt", 100],
  ["model.safetensors", undefined],
  ["rank_0.pt", undefined],
  ["resnet50.pt", undefined],
  ["model-00001-of-00003.safetensors", undefined],
  ["rng_state_rank3.pth", undefined],
  ["step_100.safetensors", 100],
])("file %s: %s", (name, step) => expect(stepOfFile(name)).toBe(step));
