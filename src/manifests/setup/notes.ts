import { leastVersions, type Workload } from "../../spec/workload/index.ts";
import { copiesOutlast, usesPool } from "../names.ts";

/** What has to be true of the cluster and cannot be seen from here. */
export function notesOf(workload: Workload, outlastImage: string): readonly string[] {
  const { capacity, cluster, flexStart, pool, kind, workers, env, queue, results, namespace } = workload;
  const notes: string[] = [];
  const isFlex = capacity.includes("flex-start");
  if (isFlex) {
    notes.push(
      `flex-start needs GKE ${leastVersions.flexStart} or later, one ordinary pool in the cluster, and preemptible quota for the accelerators.`,
    );
    if (flexStart.mode === "plain" && capacity.length === 1 && cluster.mode === "standard") {
      notes.push(
        "On Standard something must supply the node: the pool below, node auto-provisioning, or a ComputeClass. The selector alone does on Autopilot only.",
      );
    }
    if (flexStart.mode !== "plain") {
      notes.push(
        "Queued provisioning is documented without ephemeral volumes: if pods are refused, put outlast into your image (outlast.path) and checkpoint.dir on a claim.",
      );
      notes.push(
        "Pods have to start within 10 minutes of Provisioned. After the nodes' end a new request is needed: change the workload's name, keep run.name, and it resumes.",
      );
    }
    if (flexStart.mode === "kueue")
      notes.push(
        "Kueue 0.14 or later must be installed; its waitForPodsReady must not evict Jobs that wait for capacity.",
      );
  }
  if (capacity.length > 1) {
    notes.push(
      `A ComputeClass makes pools without cluster-wide auto-provisioning from GKE ${leastVersions.classAutoCreation} on.`,
    );
    if (pool.spotWindow === 60)
      notes.push(
        `The longer Spot window in a ComputeClass needs GKE ${leastVersions.classSpotWindow} or later: look whether the cluster's CRD knows shutdownGracePeriodSeconds.`,
      );
  }
  if (pool.spotWindow === 60 && capacity.length === 1 && usesPool(workload) && pool.create) {
    notes.push(
      "The longer Spot window needs a gcloud that knows shutdownGracePeriodSeconds in --system-config-from-file (528 does not), or Terraform's provider 7.39.",
    );
  }
  if (capacity.includes("spot"))
    notes.push(
      "Spot draws on preemptible quota for the accelerators; the window after the notice is best effort, and a host that crashes gives none.",
    );
  if (cluster.autoProvisioning && !usesPool(workload) && capacity.length === 1) {
    notes.push("Node auto-provisioning without a ComputeClass needs limits for these accelerators on the cluster.");
  }
  if (kind === "batch" && workers !== "job")
    notes.push(
      "KEDA must be installed, and its operator's service account must be allowed to read Cloud Monitoring (roles/monitoring.viewer).",
    );
  if (workload.storage.some(({ type }) => type === "fuse"))
    notes.push(
      `The Cloud Storage FUSE driver must be enabled; from GKE ${leastVersions.nativeFuseSidecar} on its sidecar outlives the main container.`,
    );
  if (copiesOutlast(workload) && workload.outlast.image === undefined) {
    notes.push(
      `outlast.image is not given: push the image of this release to a registry of yours and name it there; ${outlastImage} stands in its place.`,
    );
  }
  const secrets = [...Object.values(env), queue, results].flatMap((value) =>
    typeof value === "object" && "secret" in value ? [`${value.secret} (key ${value.key})`] : [],
  );
  for (const secret of new Set(secrets))
    notes.push(`The Secret ${secret} must exist in ${namespace}; it is not made here.`);
  const unknown = (["name", "location", "project"] as const).filter((key) => cluster[key] === undefined);
  if (unknown.length > 0)
    notes.push(
      `cluster.${unknown.join(", cluster.")} ${unknown.length === 1 ? "is" : "are"} not given: replace the words in capitals.`,
    );
  return notes;
}
