import { expect, test } from "vitest";
import { identifyRun } from "./run-identity.ts";

const here = { env: {}, cwd: "/home/me" };
const command = ["python", "train.py"];

test("a given name is taken as it is", () => {
  expect(identifyRun({ run: "bert", dir: "ckpt" }, command, here)).toEqual({
    run: "bert",
    shard: 0,
    of: 1,
    derived: false,
  });
});

test("without one, directory and command name the run", () => {
  const first = identifyRun({ dir: "ckpt" }, command, here);
  expect(first.derived).toBe(true);
  expect(identifyRun({ dir: "./ckpt" }, command, here).run).toBe(first.run);
});

test("inside Kubernetes a name must be given", () => {
  const pod = { ...here, env: { KUBERNETES_SERVICE_HOST: "10.0.0.1" } };
  expect(() => identifyRun({ dir: "ckpt" }, command, pod)).toThrow("--run is required inside Kubernetes");
  expect(identifyRun({ run: "bert", dir: "ckpt" }, command, pod).run).toBe("bert");
});

test("--per-index adds the Job's index", () => {
  const pod = { ...here, env: { JOB_COMPLETION_INDEX: "11" } };
  expect(identifyRun({ run: "sweep", dir: "c", perIndex: true }, command, pod).run).toBe("sweep-11");
});

test.each([{}, { JOB_COMPLETION_INDEX: "" }, { JOB_COMPLETION_INDEX: "../1" }])("--per-index refuses %j", (env) => {
  expect(() => identifyRun({ run: "sweep", dir: "c", perIndex: true }, command, { ...here, env })).toThrow(
    "--per-index needs JOB_COMPLETION_INDEX",
  );
});

test("the index must fit into the name", () => {
  const pod = { ...here, env: { JOB_COMPLETION_INDEX: "1" } };
  expect(() => identifyRun({ run: "x".repeat(99), dir: "c", perIndex: true }, command, pod)).toThrow("is not a name");
});

test("a shard is passed on", () => {
  expect(identifyRun({ run: "a", dir: "c", shard: { index: 2, of: 4 } }, command, here)).toMatchObject({
    shard: 2,
    of: 4,
  });
});
