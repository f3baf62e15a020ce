import type { Node } from "../source/node.ts";
import { because, type Report, type Rule } from "../rule.ts";

export const prestopEatsGrace: Rule = {
  id: "prestop-eats-grace",
  title: "A preStop hook spends the time before SIGTERM arrives",
  severity: "error",
  why: "The preStop hook runs first, inside the same grace period; SIGTERM comes when it is over. On Spot the whole period is 15 s, so a sleep of 10 leaves 5 for saving, and one of 15 leaves none.",
  fix: "Drop the sleep on interruptible nodes, or keep it to a few seconds.",
  sources: ["Kubernetes: container lifecycle hooks, pod termination flow", "GKE: Spot VMs"],
  *template({ template, placement }) {
    const asked = template.spec.get("terminationGracePeriodSeconds")?.number ?? 30;
    const isSpot = placement.reach.spot.verdict === "must" || placement.reach.spot.verdict === "may";
    const window = isSpot && placement.window !== undefined ? Math.min(asked, placement.window) : asked;
    for (const { node, isInit, isSidecar } of template.containers) {
      if (isInit && !isSidecar) continue;
      const found = sleepOf(node.get("lifecycle", "preStop"));
      if (!found || found.seconds * 2 <= window) continue;
      const left = Math.max(0, window - found.seconds);
      const isSure = placement.reach.spot.verdict !== "may" || found.seconds >= asked;
      const report: Report = {
        at: found.node,
        severity: left === 0 && isSure ? "error" : "warning",
        message: `preStop sleeps ${found.seconds} s of the ${window} s there are${isSpot ? " on Spot" : ""}: ${left} s are left after SIGTERM`,
        related: isSpot ? because(placement.reach.spot) : undefined,
      };
      yield report;
    }
  },
};

function sleepOf(hook: Node | undefined): { readonly node: Node; readonly seconds: number } | undefined {
  const action = hook?.get("sleep", "seconds");
  if (action?.number !== undefined) return { node: action, seconds: action.number };
  const command = hook?.get("exec", "command");
  if (!command || command.kind !== "list") return undefined;
  const text = command.strings.join(" ");
  const found = /(?:^|[\s;&])sleep\s+(\d+)s?(?=$|[\s;&])/.exec(text);
  return found ? { node: command.items.at(-1) ?? command, seconds: Number(found[1]) } : undefined;
}
