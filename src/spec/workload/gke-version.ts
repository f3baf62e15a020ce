/** Compares GKE versions such as `1.35.0-gke.1171000`; undefined when either cannot be read. */
export function isAtLeast(version: string, least: string): boolean | undefined {
  const [a, b] = [numbers(version), numbers(least)];
  if (!a || !b) return undefined;
  for (let i = 0; i < b.length; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function numbers(version: string): readonly number[] | undefined {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?(?:-gke\.(\d+))?$/.exec(version.trim());
  return match?.slice(1).map((part) => Number(part ?? 0));
}

/** Minimums to check, never constants to refuse by: GKE's own documentation moves them. */
export const leastVersions: {
  readonly flexStart: string;
  readonly spotWindow: string;
  readonly classSpotWindow: string;
  readonly classAutoCreation: string;
  readonly nativeFuseSidecar: string;
} = {
  flexStart: "1.33.0-gke.1712000",
  spotWindow: "1.35.0-gke.1171000",
  classSpotWindow: "1.36.0-gke.3204000",
  classAutoCreation: "1.33.3-gke.1136000",
  nativeFuseSidecar: "1.29.3-gke.1093000",
};
