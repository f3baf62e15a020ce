import type { LintContext, Placed, Report } from "../../rule.ts";
import { because, severityBy } from "../../rule.ts";
import { checkpointPlaces } from "./checkpoint-places.ts";
import type { Place } from "./volumes.ts";
import { isTraining } from "./work.ts";

/** Findings about checkpoints on one kind of place. */
export function* checkpointsOn(
  kind: Place["kind"],
  { template, placement }: Placed,
  context: LintContext,
  say: (path: string) => string,
): Iterable<Report> {
  if (!isTraining(template, context)) return;
  const { places } = checkpointPlaces(template, context);
  const severity = severityBy(placement.interruptible, {
    must: "error",
    may: "error",
    unknown: "warning",
    never: "info",
  });
  const reach = placement.reach.spot.verdict === "never" ? placement.reach.flexStart : placement.reach.spot;
  for (const { path, span, place, isNamed } of places) {
    if (place.kind !== kind || !severity) continue;
    yield {
      at: span,
      // A path that is merely called output may hold nothing that has to last.
      severity: isNamed ? severity : severity === "error" ? "warning" : "info",
      confidence: isNamed ? "certain" : "likely",
      message: say(path),
      related: place.volume ? { span: place.volume, message: "the volume behind it" } : because(reach),
    };
  }
}
