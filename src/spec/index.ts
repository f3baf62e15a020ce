export { childVariables, type Environment, isInsideRun, refuseUnknownVariables } from "./environment.ts";
export { defaultFile, loadSpecFile, type SpecFile } from "./file.ts";
export type { ShardOf } from "./readers.ts";
export { type Origin, type RawSettings, type Resolved, resolveSettings, type Sources, type Values } from "./resolve.ts";
export { checkRules } from "./rules.ts";
export { deriveRunName, readRunName } from "./run-name.ts";
export { type Setting, type SettingName, type SettingTypes, settings, variableOf } from "./settings.ts";
export { suggest } from "./suggest.ts";
