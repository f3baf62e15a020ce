/** Flags of the commands we print, each list from the page named above it. */
export const gcloudFlags: Readonly<Record<string, readonly string[]>> = {
  // GKE: "Spot VMs", "Run a small batch workload with GPUs and flex-start", "Run a large-scale workload with flex-start with
  // queued provisioning"; --workload-metadata: "Authenticate to Google Cloud APIs from GKE workloads"; --node-labels and
  // --system-config-from-file: gcloud container node-pools create.
  "container node-pools create": [
    "--cluster",
    "--location",
    "--project",
    "--node-locations",
    "--machine-type",
    "--accelerator",
    "--spot",
    "--flex-start",
    "--enable-queued-provisioning",
    "--max-run-duration",
    "--num-nodes",
    "--enable-autoscaling",
    "--total-min-nodes",
    "--total-max-nodes",
    "--location-policy",
    "--reservation-affinity",
    "--no-enable-autorepair",
    "--node-taints",
    "--node-labels",
    "--system-config-from-file",
    "--workload-metadata",
  ],
  // Cloud Storage: "Create buckets".
  "storage buckets create": ["--project", "--location", "--uniform-bucket-level-access"],
  // Cloud Storage: "Set and manage IAM policies on buckets".
  "storage buckets add-iam-policy-binding": ["--member", "--role"],
  // cloud.google.com/sdk/gcloud/reference/pubsub/topics/create
  "pubsub topics create": ["--project"],
  // cloud.google.com/sdk/gcloud/reference/pubsub/subscriptions/create
  "pubsub subscriptions create": [
    "--project",
    "--topic",
    "--ack-deadline",
    "--message-retention-duration",
    "--expiration-period",
  ],
  // cloud.google.com/sdk/gcloud/reference/pubsub/subscriptions/add-iam-policy-binding
  "pubsub subscriptions add-iam-policy-binding": ["--project", "--member", "--role"],
  // GKE: "Authenticate to Google Cloud APIs from GKE workloads".
  "iam service-accounts create": ["--project"],
  "iam service-accounts add-iam-policy-binding": ["--project", "--role", "--member"],
};
