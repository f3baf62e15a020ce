/** Words before a number that make it a part of one checkpoint rather than its step. */
const partWords = /(?:rank|part|shard|proc|process|worker|gpu|tp|pp|dp|mp|ep|chunk|fold|of)[-_.=]?\d+$/i;

/** The step in a folder's name: its trailing number (`step-20`, `iter_0000100`, `20`). */
export function stepOfFolder(name: string): number | undefined {
  return safeNumber(/(?:^|\D)(\d+)$/.exec(name)?.[1]);
}

/** The step in a file's name: after a word that means step, else after `epoch`, else a number at the end of its stem. */
export function stepOfFile(name: string): number | undefined {
  const stem = name.replace(/\.[A-Za-z_]\w*$/, "");
  const word = /(?:^|[^a-z])(?:global[-_]?step|steps?|iters?|iteration|batch|ba)[-_=]?(\d+)(?!\d)/i.exec(stem)?.[1];
  if (word !== undefined) return safeNumber(word);
  const epoch = /(?:^|[^a-z])(?:epoch|ep)[-_=]?(\d+)(?![\d.])/i.exec(stem)?.[1];
  if (epoch !== undefined) return safeNumber(epoch);
  if (partWords.test(stem)) return undefined;
  return safeNumber(/(?:^|[-_.=])(\d+)$/.exec(stem)?.[1]);
}

function safeNumber(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : undefined;
}
