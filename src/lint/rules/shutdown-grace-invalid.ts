import type { Rule } from "../rule.ts";

export const shutdownGraceInvalid: Rule = {
  id: "shutdown-grace-invalid",
  title: "A shutdown window that GKE does not take",
  severity: "error",
  why: "The kubelet's shutdown window can be 0, 30 or 120 s, on Spot pools only (not on preemptible ones), from GKE 1.35.0-gke.1171000; the critical pods' part must be below it. Pods get the difference.",
  fix: "Use 120 with 15 to 60 for critical pods on a Spot pool, or leave it out.",
  sources: ["GKE API: NodeKubeletConfig", "GKE: Spot VMs, extend the shutdown window"],
  *pool(pool, { gkeVersion }) {
    const { shutdownGrace } = pool;
    if (shutdownGrace === undefined || shutdownGrace === "unknown") return;
    const { total, critical } = shutdownGrace;
    const name = pool.name ?? "?";
    if (![0, 30, 120].includes(total))
      yield {
        at: pool.span,
        message: `the pool "${name}" has a shutdown window of ${total} s; GKE takes 0, 30 or 120`,
      };
    else if (total > 0 && critical >= total)
      yield {
        at: pool.span,
        message: `the pool "${name}" keeps ${critical} of ${total} s for critical pods: ordinary pods get nothing`,
      };
    if (pool.capacity !== undefined && (pool.capacity !== "spot" || pool.isPreemptible))
      yield { at: pool.span, message: `the pool "${name}" has a shutdown window but is no Spot pool: GKE refuses it` };
    else if (total === 120 && gkeVersion && isOlder(gkeVersion, "1.35.0-gke.1171000"))
      yield {
        at: pool.span,
        severity: "warning",
        message: `a window of 120 s needs GKE 1.35.0-gke.1171000, this is ${gkeVersion}`,
      };
  },
};

/** Whether one GKE version is below another; both like 1.35.0-gke.1171000. */
export function isOlder(version: string, than: string): boolean {
  const parts = (text: string): number[] => text.split(/\D+/).filter(Boolean).map(Number);
  const [a, b] = [parts(version), parts(than)];
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) if (a[i] !== b[i]) return (a[i] ?? 0) < (b[i] ?? 0);
  return false;
}
