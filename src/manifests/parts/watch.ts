import type { Workload } from "../../spec/workload/index.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { why } from "../why.ts";

const name = "outlast-watch";

/** The least that `outlast watch` needs: it reads no Secret, and changes nothing but an annotation of pods. */
export function watchRights({ namespace }: Workload): readonly ManifestObject[] {
  const rbac = "rbac.authorization.k8s.io";
  const read = ["get", "list", "watch"];
  return [
    manifestObject("v1", "ServiceAccount", { name, namespace }, "Who `outlast watch` is.", {}),
    manifestObject(`${rbac}/v1`, "ClusterRole", { name }, "What it may do everywhere.", {
      rules: [
        { apiGroups: [""], resources: ["nodes", "pods", "events"], verbs: read },
        why("writes outlast.dev/stop-at to pods whose node has a known end", {
          apiGroups: [""],
          resources: ["pods"],
          verbs: ["patch"],
        }),
        { apiGroups: ["batch"], resources: ["jobs"], verbs: read },
      ],
    }),
    manifestObject(`${rbac}/v1`, "ClusterRoleBinding", { name }, "Gives it that.", {
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    }),
    manifestObject(`${rbac}/v1`, "Role", { name, namespace }, "What it may do in its own namespace.", {
      rules: [
        why("one of several watchers leads", {
          apiGroups: ["coordination.k8s.io"],
          resources: ["leases"],
          verbs: ["get", "create", "update"],
        }),
      ],
    }),
    manifestObject(`${rbac}/v1`, "RoleBinding", { name, namespace }, "Gives it that.", {
      roleRef: { apiGroup: rbac, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    }),
  ];
}
