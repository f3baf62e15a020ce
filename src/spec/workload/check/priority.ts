import { type Check, error, warning } from "./finding.ts";

/** Priorities that keep pods pending for ever, and times that contradict each other. */
export const checkPriority: Check = ({ priority, cluster, graceSeconds, maxRunSeconds, capacity }) => {
  const found = [];
  if (priority < -10 && cluster.mode === "standard") {
    found.push(
      error(
        ["priority"],
        `below -10 a Standard cluster adds no node for a pod: at ${priority} it would wait for ever on an empty pool`,
        "write -10 or more, such as -5",
      ),
    );
  }
  if (graceSeconds < 2) found.push(error(["grace"], "stopping well takes time", "give it at least 2s"));
  if (graceSeconds > 600) {
    found.push(
      warning(["grace"], `a scale-down waits at most 600 s, and grace is ${graceSeconds} s`, "write 10m or less"),
    );
  }
  if (maxRunSeconds !== undefined && maxRunSeconds <= graceSeconds) {
    found.push(error(["maxRunDuration"], "a node would end before its pod can stop", "raise maxRunDuration"));
  }
  if (
    maxRunSeconds !== undefined &&
    capacity.every((one) => one !== "flex-start") &&
    (maxRunSeconds < 30 || maxRunSeconds > 10_368_000)
  ) {
    found.push(
      error(["maxRunDuration"], "a node lives from 30 seconds to 120 days", "write a length between 30s and 120d"),
    );
  }
  return found;
};
