/** Field names of the objects a Job is made of, for telling slips and misplaced fields; anything else is left alone. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const jobFields: readonly string[] =
  words(`parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy backoffLimit
  backoffLimitPerIndex maxFailedIndexes selector manualSelector template ttlSecondsAfterFinished completionMode suspend
  podReplacementPolicy managedBy`);

export const podFields: readonly string[] = words(`volumes initContainers containers ephemeralContainers restartPolicy
  terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount
  automountServiceAccountToken nodeName hostNetwork hostPID hostIPC shareProcessNamespace securityContext imagePullSecrets hostname
  subdomain affinity schedulerName tolerations hostAliases priorityClassName priority dnsConfig readinessGates runtimeClassName
  enableServiceLinks preemptionPolicy overhead topologySpreadConstraints setHostnameAsFQDN os hostUsers schedulingGates resourceClaims
  resources hostnameOverride workloadRef`);

export const containerFields: readonly string[] =
  words(`name image command args workingDir ports envFrom env resources resizePolicy
  restartPolicy restartPolicyRules volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle
  terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty`);
