import type { Rule } from "../rule.ts";
import { acceleratorCountVsMachine } from "./accelerator-count-vs-machine.ts";
import { acceleratorUnknown } from "./accelerator-unknown.ts";
import { ckptMountReadonly } from "./ckpt-mount-readonly.ts";
import { ckptOnContainerFs } from "./ckpt-on-container-fs.ts";
import { ckptOnEmptydir } from "./ckpt-on-emptydir.ts";
import { ckptOnGenericEphemeral } from "./ckpt-on-generic-ephemeral.ts";
import { ckptOnHostpath } from "./ckpt-on-hostpath.ts";
import { ckptOnLocalSsd } from "./ckpt-on-local-ssd.ts";
import { ckptPlaceUnknown } from "./ckpt-place-unknown.ts";
import { ckptRwoManyWriters } from "./ckpt-rwo-many-writers.ts";
import { computeclassActiveMigrationVsJob } from "./computeclass-active-migration-vs-job.ts";
import { computeclassInvalid } from "./computeclass-invalid.ts";
import { computeclassRuleSplit } from "./computeclass-rule-split.ts";
import { computeclassSelectorConflict } from "./computeclass-selector-conflict.ts";
import { computeclassSpotTail } from "./computeclass-spot-tail.ts";
import { computeclassUnknown } from "./computeclass-unknown.ts";
import { criticalOnSpot } from "./critical-on-spot.ts";
import { deadToleration } from "./dead-toleration.ts";
import { duplicateKey } from "./duplicate-key.ts";
import { duplicateMountPath } from "./duplicate-mount-path.ts";
import { entrypointNeverEnds } from "./entrypoint-never-ends.ts";
import { flexstartDurationDefault } from "./flexstart-duration-default.ts";
import { flexstartDurationRange } from "./flexstart-duration-range.ts";
import { flexstartPoolMisconfigured } from "./flexstart-pool-misconfigured.ts";
import { flexstartRequestTooBig } from "./flexstart-request-too-big.ts";
import { flexstartServing } from "./flexstart-serving.ts";
import { flexstartTolerationOnly } from "./flexstart-toleration-only.ts";
import { gcsfuseAnnotationMissing } from "./gcsfuse-annotation-missing.ts";
import { gpuLimitDiffers } from "./gpu-limit-differs.ts";
import { gpuProcsMismatch } from "./gpu-procs-mismatch.ts";
import { graceExceedsSpotWindow } from "./grace-exceeds-spot-window.ts";
import { graceOverDrainCap } from "./grace-over-drain-cap.ts";
import { graceUnsetOnSpot } from "./grace-unset-on-spot.ts";
import { graceZero } from "./grace-zero.ts";
import { imageMutableTag } from "./image-mutable-tag.ts";
import { inferenceSingleReplicaOnSpot } from "./inference-single-replica-on-spot.ts";
import { inferenceSpotNoFallback } from "./inference-spot-no-fallback.ts";
import { jobBackofflimitZero } from "./job-backofflimit-zero.ts";
import { jobDeadlineVsDuration } from "./job-deadline-vs-duration.ts";
import { jobEvictionsBurnBackoff } from "./job-evictions-burn-backoff.ts";
import { jobOnfailureOnSpot } from "./job-onfailure-on-spot.ts";
import { jobPolicyNeedsNever } from "./job-policy-needs-never.ts";
import { jobPolicyOrder } from "./job-policy-order.ts";
import { jobRestartPolicyInvalid } from "./job-restart-policy-invalid.ts";
import { jobSidecarBlocksCompletion } from "./job-sidecar-blocks-completion.ts";
import { jobTwoWriters } from "./job-two-writers.ts";
import { jobsetDisruptionRulePartial } from "./jobset-disruption-rule-partial.ts";
import { jobsetNoRestarts } from "./jobset-no-restarts.ts";
import { kueueQueueMissing } from "./kueue-queue-missing.ts";
import { kueueResourceNotCovered } from "./kueue-resource-not-covered.ts";
import { labelKeyTypo } from "./label-key-typo.ts";
import { misplacedField } from "./misplaced-field.ts";
import { nakedPodInterruptible } from "./naked-pod-interruptible.ts";
import { noOndemandPool } from "./no-ondemand-pool.ts";
import { noPoolMatches } from "./no-pool-matches.ts";
import { noRequests } from "./no-requests.ts";
import { nodeselectortermsOr } from "./nodeselectorterms-or.ts";
import { pdbBadForJob } from "./pdb-bad-for-job.ts";
import { pdbBlocksDrain } from "./pdb-blocks-drain.ts";
import { pdbMissing } from "./pdb-missing.ts";
import { pipeMasksExitCode } from "./pipe-masks-exit-code.ts";
import { preferredSpotWithoutToleration } from "./preferred-spot-without-toleration.ts";
import { prestopEatsGrace } from "./prestop-eats-grace.ts";
import { priorityBelowAutoscalerCutoff } from "./priority-below-autoscaler-cutoff.ts";
import { provreqAnnotationDeprecated } from "./provreq-annotation-deprecated.ts";
import { provreqAnnotationMisplaced } from "./provreq-annotation-misplaced.ts";
import { provreqCountMismatch } from "./provreq-count-mismatch.ts";
import { provreqDangling } from "./provreq-dangling.ts";
import { queueWaitUnbounded } from "./queue-wait-unbounded.ts";
import { rayHeadOnSpot } from "./ray-head-on-spot.ts";
import { safeToEvictOnSpot } from "./safe-to-evict-on-spot.ts";
import { selectorValueNotString } from "./selector-value-not-string.ts";
import { shellPid1SwallowsSigterm } from "./shell-pid1-swallows-sigterm.ts";
import { shutdownGraceInvalid } from "./shutdown-grace-invalid.ts";
import { sigtermIgnored } from "./sigterm-ignored.ts";
import { spotFlexstartConflict } from "./spot-flexstart-conflict.ts";
import { spotPoolUntainted } from "./spot-pool-untainted.ts";
import { spotTolerationOnFlexstart } from "./spot-toleration-on-flexstart.ts";
import { statefulsetOnSpot } from "./statefulset-on-spot.ts";
import { suppressionUnused } from "./suppression-unused.ts";
import { suppressionWithoutReason } from "./suppression-without-reason.ts";
import { taintUsedAsLabel } from "./taint-used-as-label.ts";
import { tolerationInvalid } from "./toleration-invalid.ts";
import { tpuMultisliceExclusiveTopology } from "./tpu-multislice-exclusive-topology.ts";
import { tpuTopologyMismatch } from "./tpu-topology-mismatch.ts";
import { trapDelayedByForeground } from "./trap-delayed-by-foreground.ts";
import { trapExitZeroInJob } from "./trap-exit-zero-in-job.ts";
import { unknownField } from "./unknown-field.ts";
import { unknownNodePool } from "./unknown-node-pool.ts";
import { unresolvedPlaceholder } from "./unresolved-placeholder.ts";
import { untoleratedTaint } from "./untolerated-taint.ts";
import { volumeMissing } from "./volume-missing.ts";
import { wildcardToleration } from "./wildcard-toleration.ts";
import { yamlInvalid } from "./yaml-invalid.ts";

/** Every rule, by its id. */
export const rules: readonly Rule[] = [
  acceleratorCountVsMachine,
  acceleratorUnknown,
  ckptMountReadonly,
  ckptOnContainerFs,
  ckptOnEmptydir,
  ckptOnGenericEphemeral,
  ckptOnHostpath,
  ckptOnLocalSsd,
  ckptPlaceUnknown,
  ckptRwoManyWriters,
  computeclassActiveMigrationVsJob,
  computeclassInvalid,
  computeclassRuleSplit,
  computeclassSelectorConflict,
  computeclassSpotTail,
  computeclassUnknown,
  criticalOnSpot,
  deadToleration,
  duplicateKey,
  duplicateMountPath,
  entrypointNeverEnds,
  flexstartDurationDefault,
  flexstartDurationRange,
  flexstartPoolMisconfigured,
  flexstartRequestTooBig,
  flexstartServing,
  flexstartTolerationOnly,
  gcsfuseAnnotationMissing,
  gpuLimitDiffers,
  gpuProcsMismatch,
  graceExceedsSpotWindow,
  graceOverDrainCap,
  graceUnsetOnSpot,
  graceZero,
  imageMutableTag,
  inferenceSingleReplicaOnSpot,
  inferenceSpotNoFallback,
  jobBackofflimitZero,
  jobDeadlineVsDuration,
  jobEvictionsBurnBackoff,
  jobOnfailureOnSpot,
  jobPolicyNeedsNever,
  jobPolicyOrder,
  jobRestartPolicyInvalid,
  jobSidecarBlocksCompletion,
  jobTwoWriters,
  jobsetDisruptionRulePartial,
  jobsetNoRestarts,
  kueueQueueMissing,
  kueueResourceNotCovered,
  labelKeyTypo,
  misplacedField,
  nakedPodInterruptible,
  noOndemandPool,
  noPoolMatches,
  noRequests,
  nodeselectortermsOr,
  pdbBadForJob,
  pdbBlocksDrain,
  pdbMissing,
  pipeMasksExitCode,
  preferredSpotWithoutToleration,
  prestopEatsGrace,
  priorityBelowAutoscalerCutoff,
  provreqAnnotationDeprecated,
  provreqAnnotationMisplaced,
  provreqCountMismatch,
  provreqDangling,
  queueWaitUnbounded,
  rayHeadOnSpot,
  safeToEvictOnSpot,
  selectorValueNotString,
  shellPid1SwallowsSigterm,
  shutdownGraceInvalid,
  sigtermIgnored,
  spotFlexstartConflict,
  spotPoolUntainted,
  spotTolerationOnFlexstart,
  statefulsetOnSpot,
  suppressionUnused,
  suppressionWithoutReason,
  taintUsedAsLabel,
  tolerationInvalid,
  tpuMultisliceExclusiveTopology,
  tpuTopologyMismatch,
  trapDelayedByForeground,
  trapExitZeroInJob,
  unknownField,
  unknownNodePool,
  unresolvedPlaceholder,
  untoleratedTaint,
  volumeMissing,
  wildcardToleration,
  yamlInvalid,
];
