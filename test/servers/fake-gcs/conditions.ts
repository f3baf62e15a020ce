import { type Answer, conditionFailed } from "./answer.ts";
import type { FakeObject } from "./bucket.ts";

/**
 * Whether the preconditions in a query hold for the object that is there (generation 0 stands for none); the answer to give
 * when not. A failed `…NotMatch` on a read is 304, everything else 412.
 */
export function unmetCondition(
  query: URLSearchParams,
  object: FakeObject | undefined,
  how: { readonly isRead: boolean; readonly isMedia?: boolean },
): Answer | undefined {
  const generation = object?.generation ?? 0n;
  const metageneration = object ? 1n : 0n;
  const checks: [string, bigint][] = [
    ["Generation", generation],
    ["Metageneration", metageneration],
  ];
  for (const [what, actual] of checks) {
    const match = query.get(`if${what}Match`);
    if (match !== null && BigInt(match) !== actual) return conditionFailed(how.isMedia);
    const notMatch = query.get(`if${what}NotMatch`);
    if (notMatch !== null && BigInt(notMatch) === actual) {
      return how.isRead ? { status: 304 } : conditionFailed(how.isMedia);
    }
  }
  return undefined;
}
