import { accelerators } from "../placement/pod-template.ts";
import { acceleratorOf } from "../placement/match-pool.ts";
import { nameOf, type Rule } from "../rule.ts";

export const flexstartRequestTooBig: Rule = {
  id: "flexstart-request-too-big",
  title: "More accelerators at once than the pool can ever have",
  severity: "error",
  why: "When all pods of a job are needed together and the pool's maximum is smaller, the last ones wait for ever while the first ones are paid for. With queued provisioning nothing starts at all.",
  fix: "Lower parallelism, or raise the pool's maximum (--total-max-nodes; 1,000 nodes per request at most).",
  sources: ["GKE: flex-start, quotas and limits"],
  *template({ template, placement }) {
    const { jobSpec, replicatedJob } = template;
    if (!jobSpec || placement.candidates.length === 0) return;
    const replicas = replicatedJob?.get("replicas")?.number ?? 1;
    const parallelism = jobSpec.get("parallelism");
    const pods = (parallelism?.number ?? 1) * replicas;
    const perPod = accelerators(template);
    if (perPod === 0 || !parallelism || pods < 2) return;
    let room = 0;
    for (const pool of placement.candidates) {
      const perNode = acceleratorOf(pool)?.count;
      if (pool.maxNodes === undefined || perNode === undefined) return;
      room += pool.maxNodes * Math.floor(perNode / perPod);
    }
    if (pods <= room) return;
    const [pool] = placement.candidates;
    yield {
      at: parallelism,
      severity:
        placement.interruptible === "must" && placement.candidates.every(({ capacity }) => capacity === "flexStart")
          ? "error"
          : "warning",
      message: `${nameOf(template)} wants ${pods} pods at once (${pods * perPod} accelerators), the pools it can use hold ${room}`,
      related: pool
        ? { span: pool.span, message: `the pool "${pool.name ?? "?"}", at most ${pool.maxNodes ?? "?"} nodes` }
        : undefined,
    };
  },
};
