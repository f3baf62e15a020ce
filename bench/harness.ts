/** A thing to measure; prepared anew before each run. */
export interface Contender<T> {
  readonly name: string;
  prepare(): Promise<void>;
  run(): Promise<T>;
}

/** Goes round all contenders, then again: whatever drifts on the machine then meets all of them alike. */
export async function interleave<T>(
  contenders: readonly Contender<T>[],
  rounds: number,
  note: (line: string) => void,
): Promise<Map<string, T[]>> {
  const results = new Map<string, T[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) {
      await contender.prepare();
      const result = await contender.run();
      results.get(contender.name)?.push(result);
      note(`round ${round}/${rounds} ${contender.name}: ${JSON.stringify(result)}`);
    }
  }
  return results;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** `1.08s [1.02..1.20]`. */
export function showSeconds(valuesMs: readonly number[]): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return `${seconds(median(valuesMs))}s [${seconds(Math.min(...valuesMs))}..${seconds(Math.max(...valuesMs))}]`;
}
