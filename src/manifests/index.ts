export { buildManifest, buildManifests } from "./build.ts";
export { explainWorkload, type Happening } from "./explain.ts";
export { type InitAnswers, writeSpec } from "./write-spec.ts";
export type { ManifestOptions } from "./parts/pod.ts";
export { renderFiles, renderStream } from "./render.ts";
export type { KubeObject, ManifestObject, Step, WorkloadManifest } from "./types.ts";
