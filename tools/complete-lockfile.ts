import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

// npm leaves optional packages of other platforms out of package-lock.json when the registry it asks does not have them, and `npm ci` then
// refuses the file on every platform. This adds what is missing: name, exact version, and the platform that the name tells. Run it after
// changing a dependency (`npm run lock`).

interface Entry {
  version?: string;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  dev?: boolean;
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
}

interface Lockfile {
  packages: Record<string, Entry>;
}

const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const processors = ["arm64", "arm", "ia32", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/** Optional packages that the lock file names but does not list. */
export function missingEntries({ packages }: Lockfile): Record<string, Entry> {
  const missing: Record<string, Entry> = {};
  for (const entry of Object.values(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const key = `node_modules/${name}`;
      if (packages[key] === undefined) missing[key] = platformEntry(name, version, entry.dev);
    }
  }
  return missing;
}

function platformEntry(name: string, version: string, dev: boolean | undefined): Entry {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) => words.includes(processor));
  if (!/^\d+\.\d+\.\d+/.test(version) || cpu.length !== 1) throw new Error(`${name}@${version} names no platform`);
  const libc = words.some((word) => word.startsWith("musl")) ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return {
    version,
    cpu,
    ...(dev ? { dev } : {}),
    ...(os.includes("linux") && libc.length > 0 ? { libc } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}

if (process.argv[1] === import.meta.filename) {
  const path = join(import.meta.dirname, "../package-lock.json");
  const lock = JSON.parse(await readFile(path, "utf8")) as Lockfile;
  const packages = { ...lock.packages, ...missingEntries(lock) };
  const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  await writeFile(path, `${JSON.stringify({ ...lock, packages: sorted }, undefined, 2)}\n`);
}
