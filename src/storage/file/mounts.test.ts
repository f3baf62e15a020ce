import { describe, expect, it } from "vitest";
import { mountOf, parseMounts } from "./mounts.ts";

const mountinfo = String.raw`22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:5 / /dev rw - devtmpfs devtmpfs rw
41 22 0:40 / /data rw,nosuid - fuse.gcsfuse my-bucket rw,user_id=0
42 22 0:41 / /data2 rw,nosuid shared:7 master:3 - fuse gcsfuse rw,user_id=0
43 22 0:42 /some\040folder /mnt/with\040space rw - nfs4 server:/x rw
44 22 0:43 / /over rw - ext4 /dev/vdb rw
45 22 0:44 / /over rw - fuse.gcsfuse bucket rw
46 22 0:45 / /ssh rw - fuse.sshfs host: rw
not a line
`;

describe("mounts", () => {
  const mounts = parseMounts(mountinfo);
  const at = (path: string) => mountOf(path, mounts);

  it("finds the deepest mount that holds a path", () => {
    expect(at("/home/x")?.point).toBe("/");
    expect(at("/data/x/y")?.source).toBe("my-bucket");
    expect(at("/data")?.source).toBe("my-bucket");
    expect(at("/database")?.point).toBe("/");
    expect(at("/mnt/with space/x")).toMatchObject({ type: "nfs4", root: "/some folder" });
  });

  it("takes the latest of several on one point", () => {
    expect(at("/over/x")?.source).toBe("bucket");
  });
});
