import type { Workload } from "../../spec/workload/index.ts";
import { bucketsOf, googleAccountOf, pubSubOf } from "../google.ts";
import { placeholders, regionOf } from "../names.ts";
import type { Step } from "../types.ts";

/** Commands for buckets, identity and queue, in the order they have to be run. */
export function googleSteps(workload: Workload): readonly Step[] {
  return [...bucketSteps(workload), ...pubSubSteps(workload), ...identitySteps(workload)];
}

function bucketSteps(workload: Workload): readonly Step[] {
  const { location, project } = placeholders(workload);
  return bucketsOf(workload).map(({ bucket }) => ({
    purpose: `The bucket ${bucket}, in the cluster's region: elsewhere every save and restore costs time and money.`,
    argv: [
      "gcloud",
      "storage",
      "buckets",
      "create",
      `gs://${bucket}`,
      `--project=${project}`,
      `--location=${regionOf(location)}`,
      "--uniform-bucket-level-access",
    ],
  }));
}

function pubSubSteps(workload: Workload): readonly Step[] {
  const parts = pubSubOf(workload);
  if (!parts) return [];
  const { project, topic, subscription } = parts;
  return [
    {
      purpose: "The topic that items are published to.",
      argv: ["gcloud", "pubsub", "topics", "create", topic, `--project=${project}`],
    },
    {
      purpose:
        "Its subscription. No dead-letter policy: work that is handed back counts towards one, and items would be moved away.",
      argv: [
        "gcloud",
        "pubsub",
        "subscriptions",
        "create",
        subscription,
        `--project=${project}`,
        `--topic=${topic}`,
        "--ack-deadline=30",
        "--message-retention-duration=7d",
        "--expiration-period=never",
      ],
    },
  ];
}

function identitySteps(workload: Workload): readonly Step[] {
  const account = googleAccountOf(workload);
  if (account === undefined) return [];
  const { namespace, serviceAccount } = workload;
  const { project } = placeholders(workload);
  const member = `--member=serviceAccount:${account}`;
  const id = account.split("@")[0] ?? "";
  const parts = pubSubOf(workload);
  return [
    ...(workload.serviceAccount.google === undefined
      ? [
          {
            purpose: "Who the pods are towards Google Cloud.",
            argv: ["gcloud", "iam", "service-accounts", "create", id, `--project=${project}`],
          },
        ]
      : []),
    {
      purpose: "Lets the pods' service account act as it (Workload Identity).",
      argv: [
        "gcloud",
        "iam",
        "service-accounts",
        "add-iam-policy-binding",
        account,
        `--project=${project}`,
        "--role=roles/iam.workloadIdentityUser",
        `--member=serviceAccount:${project}.svc.id.goog[${namespace}/${serviceAccount.name}]`,
      ],
    },
    ...bucketsOf(workload).map(({ bucket, readOnly }) => ({
      purpose: `Lets it ${readOnly ? "read" : "read and write"} ${bucket}; a node's own scope is read-only.`,
      argv: [
        "gcloud",
        "storage",
        "buckets",
        "add-iam-policy-binding",
        `gs://${bucket}`,
        member,
        `--role=roles/storage.${readOnly ? "objectViewer" : "objectUser"}`,
      ],
    })),
    ...(parts
      ? [
          {
            purpose: "Lets it pull and ack.",
            argv: [
              "gcloud",
              "pubsub",
              "subscriptions",
              "add-iam-policy-binding",
              parts.subscription,
              `--project=${parts.project}`,
              member,
              "--role=roles/pubsub.subscriber",
            ],
          },
        ]
      : []),
  ];
}
