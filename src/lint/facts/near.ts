/** The one known word within `most` slips of the fingers of `word`; undefined when none or several are equally near. */
export function nearest(word: string, known: Iterable<string>, most = 2): string | undefined {
  let best: string | undefined;
  let bestDistance = most + 1;
  let isTied = false;
  const wanted = word.toLowerCase();
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
      isTied = false;
    } else if (distance === bestDistance && distance <= most) isTied = true;
  }
  // In short words two slips make almost anything of anything.
  if (isTied || best === undefined || bestDistance * 3 > word.length) return undefined;
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; gives up past `most`. */
function editDistance(a: string, b: string, most: number): number {
  if (a.length > 200 || b.length > 200) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(value);
      least = Math.min(least, value);
    }
    if (least > most) return least;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
