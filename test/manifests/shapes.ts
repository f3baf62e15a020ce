/** What a field may hold; a strict stand-in for the API's own schemas, of the fields we use and no others. */
export type Shape =
  | "string"
  | "integer"
  | "boolean"
  | "quantity"
  | { readonly list: Shape; readonly most?: number }
  | { readonly map: Shape }
  | { readonly oneOf: readonly (string | number)[] }
  | { readonly fields: Readonly<Record<string, Shape>>; readonly required?: readonly string[] };

/** Everything in `value` that `shape` does not allow, by path. */
export function misfits(value: unknown, shape: Shape, at: string): string[] {
  if (shape === "quantity") {
    return typeof value === "string" && /^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/.test(value)
      ? []
      : [`${at}: not a quantity`];
  }
  if (shape === "integer") return Number.isInteger(value) ? [] : [`${at}: not an integer`];
  if (typeof shape === "string") return typeof value === shape ? [] : [`${at}: not a ${shape}`];
  if ("oneOf" in shape)
    return shape.oneOf.includes(value as string)
      ? []
      : [`${at}: ${String(value)} is none of ${shape.oneOf.join(", ")}`];
  if ("list" in shape) {
    if (!Array.isArray(value)) return [`${at}: not a list`];
    if (value.length === 0 || value.length > (shape.most ?? 1000)) return [`${at}: ${value.length} entries`];
    return value.flatMap((item, index) => misfits(item, shape.list, `${at}[${index}]`));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at}: not an object`];
  const entries = Object.entries(value);
  if ("map" in shape) return entries.flatMap(([key, one]) => misfits(one, shape.map, `${at}.${key}`));
  return [
    ...entries.flatMap(([key, one]) => {
      const field = shape.fields[key];
      return field ? misfits(one, field, `${at}.${key}`) : [`${at}.${key}: no such field`];
    }),
    ...(shape.required ?? []).filter((key) => !(key in value)).map((key) => `${at}.${key}: missing`),
  ];
}

const strings: Shape = { map: "string" };
const metadata: Shape = {
  fields: { name: "string", namespace: "string", labels: strings, annotations: strings },
  required: ["name"],
};
const selector: Shape = { fields: { matchLabels: strings } };
const reference: Shape = { fields: { name: "string" }, required: ["name"] };
const keyRef: Shape = { fields: { name: "string", key: "string" }, required: ["name", "key"] };
const requests: Shape = { map: "quantity" };

const container: Shape = {
  fields: {
    name: "string",
    image: "string",
    command: { list: "string" },
    args: { list: "string" },
    env: {
      list: {
        fields: {
          name: "string",
          value: "string",
          valueFrom: { fields: { secretKeyRef: keyRef, configMapKeyRef: keyRef } },
        },
        required: ["name"],
      },
    },
    ports: { list: { fields: { name: "string", containerPort: "integer" }, required: ["containerPort"] } },
    resources: { fields: { requests, limits: requests } },
    securityContext: {
      fields: {
        allowPrivilegeEscalation: { oneOf: [false as unknown as string] },
        capabilities: { fields: { drop: { list: "string" } } },
      },
      required: ["allowPrivilegeEscalation", "capabilities"],
    },
    volumeMounts: {
      list: {
        fields: { name: "string", mountPath: "string", subPath: "string", readOnly: "boolean" },
        required: ["name", "mountPath"],
      },
    },
  },
  required: ["name", "image"],
};

const toleration: Shape = {
  fields: {
    key: "string",
    operator: { oneOf: ["Exists", "Equal"] },
    value: "string",
    effect: { oneOf: ["NoSchedule", "PreferNoSchedule", "NoExecute"] },
  },
  required: ["key", "operator", "effect"],
};

const podSpec: Shape = {
  fields: {
    restartPolicy: { oneOf: ["Never"] },
    serviceAccountName: "string",
    priorityClassName: "string",
    subdomain: "string",
    terminationGracePeriodSeconds: "integer",
    nodeSelector: strings,
    tolerations: { list: toleration },
    securityContext: {
      fields: {
        runAsNonRoot: "boolean",
        runAsUser: "integer",
        runAsGroup: "integer",
        fsGroup: "integer",
        seccompProfile: { fields: { type: { oneOf: ["RuntimeDefault"] } }, required: ["type"] },
      },
    },
    initContainers: { list: container },
    containers: { list: container },
    volumes: {
      list: {
        fields: {
          name: "string",
          emptyDir: { fields: { sizeLimit: "quantity" } },
          downwardAPI: {
            fields: {
              items: {
                list: {
                  fields: { path: "string", fieldRef: { fields: { fieldPath: "string" }, required: ["fieldPath"] } },
                  required: ["path"],
                },
              },
            },
          },
          persistentVolumeClaim: { fields: { claimName: "string", readOnly: "boolean" }, required: ["claimName"] },
          csi: { fields: { driver: "string", readOnly: "boolean", volumeAttributes: strings }, required: ["driver"] },
        },
        required: ["name"],
      },
    },
  },
  required: ["containers"],
};

const template: Shape = {
  fields: { metadata: { fields: { labels: strings, annotations: strings } }, spec: podSpec },
  required: ["spec"],
};

const jobSpec: Shape = {
  fields: {
    suspend: "boolean",
    completionMode: { oneOf: ["Indexed"] },
    completions: "integer",
    parallelism: "integer",
    backoffLimit: "integer",
    backoffLimitPerIndex: "integer",
    podReplacementPolicy: { oneOf: ["Failed"] },
    podFailurePolicy: {
      fields: {
        rules: {
          most: 20,
          list: {
            fields: {
              action: { oneOf: ["Ignore", "Count", "FailJob", "FailIndex"] },
              onExitCodes: {
                fields: {
                  containerName: "string",
                  operator: { oneOf: ["In", "NotIn"] },
                  values: { list: "integer", most: 255 },
                },
                required: ["operator", "values"],
              },
              onPodConditions: { list: { fields: { type: "string", status: "string" }, required: ["type"] } },
            },
            required: ["action"],
          },
        },
      },
      required: ["rules"],
    },
    template,
  },
  required: ["template"],
};

const kedaTrigger: Shape = {
  fields: { type: { oneOf: ["prometheus"] }, metadata: strings, authenticationRef: reference },
  required: ["type", "metadata", "authenticationRef"],
};
const policyRules: Shape = {
  list: {
    fields: { apiGroups: { list: "string" }, resources: { list: "string" }, verbs: { list: "string" } },
    required: ["apiGroups", "resources", "verbs"],
  },
};
const binding: Readonly<Record<string, Shape>> = {
  roleRef: { fields: { apiGroup: "string", kind: "string", name: "string" }, required: ["apiGroup", "kind", "name"] },
  subjects: { list: { fields: { kind: "string", name: "string", namespace: "string" }, required: ["kind", "name"] } },
};
const spec = (fields: Readonly<Record<string, Shape>>, ...required: string[]): Readonly<Record<string, Shape>> => ({
  spec: { fields, required },
});

/** The kinds we make, under the API versions we make them in: fields beside apiVersion, kind and metadata. */
const kinds: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  "v1 Namespace": {},
  "v1 ServiceAccount": {},
  "v1 PersistentVolumeClaim": spec(
    {
      accessModes: { list: { oneOf: ["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany"] } },
      storageClassName: "string",
      resources: { fields: { requests } },
    },
    "accessModes",
    "resources",
  ),
  "v1 PodTemplate": { template },
  "v1 Service": spec({
    clusterIP: { oneOf: ["None"] },
    publishNotReadyAddresses: "boolean",
    selector: strings,
    ports: { list: { fields: { name: "string", port: "integer", targetPort: "string" }, required: ["port"] } },
  }),
  "scheduling.k8s.io/v1 PriorityClass": {
    value: "integer",
    preemptionPolicy: { oneOf: ["Never", "PreemptLowerPriority"] },
    globalDefault: "boolean",
    description: "string",
  },
  "storage.k8s.io/v1 StorageClass": {
    provisioner: "string",
    parameters: strings,
    volumeBindingMode: { oneOf: ["WaitForFirstConsumer"] },
    allowVolumeExpansion: "boolean",
  },
  "batch/v1 Job": { spec: jobSpec },
  "apps/v1 Deployment": spec(
    {
      replicas: "integer",
      selector,
      strategy: { fields: { type: { oneOf: ["Recreate", "RollingUpdate"] } } },
      template,
    },
    "selector",
    "template",
  ),
  "policy/v1 PodDisruptionBudget": spec({ minAvailable: "integer", selector }, "minAvailable", "selector"),
  "rbac.authorization.k8s.io/v1 ClusterRole": { rules: policyRules },
  "rbac.authorization.k8s.io/v1 Role": { rules: policyRules },
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": binding,
  "rbac.authorization.k8s.io/v1 RoleBinding": binding,
  "cloud.google.com/v1 ComputeClass": spec(
    {
      nodePoolAutoCreation: { fields: { enabled: "boolean" }, required: ["enabled"] },
      whenUnsatisfiable: { oneOf: ["DoNotScaleUp", "ScaleUpAnyway"] },
      priorities: {
        list: {
          fields: {
            machineType: "string",
            gpu: {
              fields: { type: "string", count: "integer", driverVersion: { oneOf: ["latest", "default"] } },
              required: ["type", "count"],
            },
            location: { fields: { zones: { list: "string" } } },
            spot: "boolean",
            maxRunDurationSeconds: "integer",
            flexStart: {
              fields: { enabled: "boolean", nodeRecycling: { fields: { leadTimeSeconds: "integer" } } },
              required: ["enabled"],
            },
            nodeSystemConfig: {
              fields: {
                kubeletConfig: {
                  fields: {
                    shutdownGracePeriodSeconds: { oneOf: [0, 30, 120] },
                    shutdownGracePeriodCriticalPodsSeconds: "integer",
                  },
                },
              },
            },
          },
        },
      },
    },
    "priorities",
  ),
  "autoscaling.x-k8s.io/v1 ProvisioningRequest": spec(
    {
      provisioningClassName: { oneOf: ["queued-provisioning.gke.io"] },
      parameters: strings,
      podSets: {
        list: { fields: { count: "integer", podTemplateRef: reference }, required: ["count", "podTemplateRef"] },
        most: 1,
      },
    },
    "provisioningClassName",
    "podSets",
  ),
  "kueue.x-k8s.io/v1beta2 ResourceFlavor": spec({ nodeLabels: strings }),
  "kueue.x-k8s.io/v1beta2 ProvisioningRequestConfig": spec(
    { provisioningClassName: "string", managedResources: { list: "string" } },
    "provisioningClassName",
  ),
  "kueue.x-k8s.io/v1beta2 AdmissionCheck": spec(
    {
      controllerName: "string",
      parameters: {
        fields: { apiGroup: "string", kind: "string", name: "string" },
        required: ["apiGroup", "kind", "name"],
      },
    },
    "controllerName",
  ),
  "kueue.x-k8s.io/v1beta2 ClusterQueue": spec({
    namespaceSelector: selector,
    resourceGroups: {
      list: {
        fields: {
          coveredResources: { list: "string" },
          flavors: {
            list: {
              fields: {
                name: "string",
                resources: {
                  list: { fields: { name: "string", nominalQuota: "quantity" }, required: ["name", "nominalQuota"] },
                },
              },
            },
          },
        },
      },
    },
    admissionChecksStrategy: { fields: { admissionChecks: { list: reference } } },
  }),
  "kueue.x-k8s.io/v1beta2 LocalQueue": spec({ clusterQueue: "string" }, "clusterQueue"),
  "keda.sh/v1alpha1 TriggerAuthentication": spec({ podIdentity: { fields: { provider: { oneOf: ["gcp"] } } } }),
  "keda.sh/v1alpha1 ScaledJob": spec(
    {
      jobTargetRef: jobSpec,
      pollingInterval: "integer",
      maxReplicaCount: "integer",
      successfulJobsHistoryLimit: "integer",
      failedJobsHistoryLimit: "integer",
      triggers: { list: kedaTrigger },
    },
    "jobTargetRef",
    "triggers",
  ),
  "keda.sh/v1alpha1 ScaledObject": spec(
    {
      scaleTargetRef: reference,
      minReplicaCount: "integer",
      maxReplicaCount: "integer",
      cooldownPeriod: "integer",
      triggers: { list: kedaTrigger },
    },
    "scaleTargetRef",
    "triggers",
  ),
};

const clusterWide = new Set([
  "Namespace",
  "PriorityClass",
  "StorageClass",
  "ClusterRole",
  "ClusterRoleBinding",
  "ComputeClass",
  "ResourceFlavor",
  "ProvisioningRequestConfig",
  "AdmissionCheck",
  "ClusterQueue",
]);

/** What is wrong with the shape of one object. */
export function shapeFaults(object: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly namespace?: string };
}): string[] {
  const name = `${object.apiVersion} ${object.kind}`;
  const fields = kinds[name];
  if (!fields) return [`${name}: a kind we do not make`];
  const isPlaced = object.metadata.namespace !== undefined;
  return [
    ...misfits(
      object,
      {
        fields: { apiVersion: "string", kind: "string", metadata, ...fields },
        required: ["apiVersion", "kind", "metadata", ...(fields["spec"] ? ["spec"] : [])],
      },
      object.kind,
    ),
    ...(isPlaced === clusterWide.has(object.kind)
      ? [`${object.kind}: ${isPlaced ? "has a" : "has no"} namespace`]
      : []),
  ];
}
