import { getMetadata } from "./metadata-client.ts";

/** How {@link askMachineRegion} asks. */
export interface MachineRegionOptions {
  /** Host and port. @default GCE_METADATA_HOST, else metadata.google.internal */
  readonly host?: string | undefined;
  /** @default 1000 */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

/** The region of this Compute Engine VM, from its metadata server; undefined when that does not say in time. */
export async function askMachineRegion(options: MachineRegionOptions): Promise<string | undefined> {
  const host = options.host ?? process.env["GCE_METADATA_HOST"] ?? "metadata.google.internal";
  try {
    const { status, body } = await getMetadata(host, "instance/zone", options.timeoutMs ?? 1000, options.signal);
    return status === 200 ? regionOfZone(body) : undefined;
  } catch {
    // No metadata server, or none that answers: the region is then unknown, which is an answer too.
    return undefined;
  }
}

/** `projects/123/zones/us-central1-a` is in `us-central1`. */
export function regionOfZone(text: string): string | undefined {
  return /^(?:projects\/[^/]+\/zones\/)?([a-z]+-[a-z]+\d+)-[a-z]$/.exec(text)?.[1];
}
