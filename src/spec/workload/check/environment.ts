import { type Check, error, warning } from "./finding.ts";

const secretName =
  /(^|_)(PASSWORD|PASSWD|SECRET|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS|(AUTH|API|ACCESS|REFRESH|HF|HUB|GITHUB|WANDB)_TOKEN)$/i;
const passwordInUrl = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:[^/?#@]+@/i;

/** Secrets in plain text, and names that outlast sets itself. */
export const checkEnvironment: Check = (workload) =>
  Object.entries(workload.env).flatMap(([name, value]) => {
    const path = ["env", name];
    if (name.startsWith("OUTLAST_")) {
      return [warning(path, `${name} is read by outlast itself`, "use the key of outlast.yaml for it")];
    }
    if (typeof value !== "string") return [];
    if (secretName.test(name) || passwordInUrl.test(value)) {
      return [
        error(
          path,
          `${name} holds a secret in plain text`,
          `put it into a Secret and write ${name}: {secret: NAME, key: KEY}`,
        ),
      ];
    }
    return [];
  });
