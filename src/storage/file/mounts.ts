/** One line of `/proc/self/mountinfo`. */
export interface Mount {
  /** What of the file system is mounted: `/`, or the folder that a bind mount (a volume's `subPath`) shows. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly source: string;
}

/** Reads the text of `/proc/self/mountinfo`; lines of an unknown shape are left out. */
export function parseMounts(mountinfo: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of mountinfo.split("\n")) {
    // "36 35 98:0 /root /point options optional… - type source super-options"
    const fields = line.split(" ");
    const dash = fields.indexOf("-", 6);
    const [root, point, type, source] = [fields[3], fields[4], fields[dash + 1], fields[dash + 2]];
    if (dash < 0 || !root || !point || !type || !source) continue;
    mounts.push({ root: unescape(root), point: unescape(point), type, source: unescape(source) });
  }
  return mounts;
}

/** The mount that holds an absolute path: the deepest one, and of equal ones the latest, which hides the others. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  let best: Mount | undefined;
  for (const mount of mounts) {
    const holds = mount.point === "/" || path === mount.point || path.startsWith(`${mount.point}/`);
    if (holds && mount.point.length >= (best?.point.length ?? 0)) best = mount;
  }
  return best;
}

function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
