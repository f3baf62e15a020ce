import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Scene } from "../evictions/support/scene.ts";
import { readStoreLog } from "../evictions/support/store-log.ts";
import { type GcsServer, startFakeGcsServer } from "../servers/gcs.ts";
import { FuseMount, hasGcsfuse } from "../servers/gcsfuse.ts";

const helper = join(import.meta.dirname, "../../python");

/** Writes a file in two halves, tells what it is told to tell, and waits for a signal or a file. */
const program = `
import os, sys, time
sys.path.insert(0, ${JSON.stringify(helper)})
import outlast
folder, says, leave = sys.argv[1:4]
path = os.path.join(folder, "step_5.pt")
with open(path, "wb") as file:
    file.write(b"\\x80\\x02" + b"a" * 100_000)
    file.flush()
    time.sleep(1)
    file.write(b"b" * 100_000)
if says == "saved":
    outlast.saved(path, 5)
print("written", flush=True)
while not os.path.exists(leave):
    time.sleep(0.05)
`;

describe.skipIf(!hasGcsfuse())("a checkpoint without a marker on a mounted bucket", { timeout: 120_000 }, () => {
  const scene = new Scene();
  let server: GcsServer;
  let mount: FuseMount;
  beforeAll(async () => {
    server = await startFakeGcsServer();
    await server.createBucket("unmarked");
    const [point, log] = [join(scene.root, "mnt"), join(scene.root, "gcsfuse.log")];
    mount = await FuseMount.open({ server, bucket: "unmarked", point, log });
    writeFileSync(join(scene.root, "program.py"), program);
  }, 60_000);
  afterAll(async () => {
    await scene.stop();
    await mount.unmount();
    await server.stop();
    await scene.end();
  });

  const start = (run: string, says: string) => {
    const [dir, leave] = [join(mount.point, run), join(scene.root, `${run}.leave`)];
    mkdirSync(dir);
    const command = ["python3", join(scene.root, "program.py"), dir, says, leave];
    return { dir, leave, start: scene.run(run, dir, command, ["--log-level", "debug"]) };
  };
  const commits = (run: string) =>
    readStoreLog(scene.store, run).flatMap(({ body }) => (body.kind === "commit" ? [body.step] : []));

  it("is shipped once the program calls it saved, and comes back byte for byte", async () => {
    const { dir, leave, start: first } = start("told", "saved");
    await first.says('"checkpoint committed"', 60_000);
    expect(commits("told")).toEqual([5]);
    first.kill("SIGKILL");
    writeFileSync(leave, "");
    await first.ended;
    const other = join(mount.point, "elsewhere");
    mkdirSync(other);
    const second = scene.run("told", other, ["true"]);
    expect(await second.code(), second.output).toBe(0);
    expect(readFileSync(join(other, "step_5.pt")).equals(readFileSync(join(dir, "step_5.pt")))).toBe(true);
  });

  it("is left alone while the program runs otherwise, which is said at the start; and shipped at its end", async () => {
    const { leave, start: only } = start("silent", "nothing");
    await only.says("is a mounted Cloud Storage bucket", 60_000);
    await only.says("written", 60_000);
    // Longer than the quiet time of a disk.
    await new Promise((resolve) => setTimeout(resolve, 5000));
    expect(commits("silent")).toEqual([]);
    writeFileSync(leave, "");
    expect(await only.code(), only.output).toBe(0);
    expect(commits("silent")).toEqual([5]);
    expect(mount.finishedEarly()).toEqual([]);
  });
});
