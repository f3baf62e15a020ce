/** A curve through points, and how it is drawn. */
export interface Curve {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}

/** A chart's content; everything in it is numbers and short plain text. */
export interface Chart {
  readonly title: string;
  readonly x: { readonly label: string; readonly isLog?: boolean };
  readonly y: { readonly label: string };
  readonly curves: readonly Curve[];
  /** Vertical marks with a label. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[];
  /** A span of x drawn as a band. */
  readonly band?: { readonly from: number; readonly to: number; readonly label: string } | undefined;
}

const width = 640;
const height = 280;
const left = 64;
const right = 16;
const top = 28;
const bottom = 44;

/** A chart as one self-contained SVG element; colours follow the page (`currentColor` and classes). */
export function drawChart(chart: Chart): string {
  const points = chart.curves
    .flatMap((curve) => curve.points)
    .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  if (points.length === 0) return "";
  const toAxis = (x: number) => (chart.x.isLog ? Math.log10(x) : x);
  const xs = points.map(([x]) => toAxis(x));
  const ys = points.map(([, y]) => y);
  const x0 = Math.min(...xs);
  const x1 = Math.max(...xs, x0 + 1e-9);
  const yTicks = niceTicks(Math.min(...ys), Math.max(...ys), 5);
  const y0 = Math.min(yTicks[0] ?? 0, ...ys);
  const y1 = Math.max(yTicks.at(-1) ?? 1, ...ys);
  const px = (x: number) => left + ((clamp(toAxis(x), x0, x1) - x0) / (x1 - x0)) * (width - left - right);
  const py = (y: number) => height - bottom - ((y - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const xTicks = chart.x.isLog ? logTicks(10 ** x0, 10 ** x1) : niceTicks(x0, x1, 6);
  const parts: string[] = [];
  for (const tick of yTicks) {
    parts.push(
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${round(py(tick))}" y2="${round(py(tick))}"/>`,
    );
    parts.push(text(left - 8, py(tick) + 4, label(tick), "end"));
  }
  for (const tick of xTicks) parts.push(text(px(tick), height - bottom + 18, label(tick), "middle"));
  if (chart.band) {
    const from = px(chart.band.from);
    const to = px(chart.band.to);
    parts.push(
      `<rect class="band" x="${round(from)}" y="${top}" width="${round(Math.max(1, to - from))}" height="${height - top - bottom}"/>`,
      text((from + to) / 2, top + 12, chart.band.label, "middle"),
    );
  }
  chart.curves.forEach((curve, index) => {
    const path = curve.points
      .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
      .map(([x, y], at) => `${at === 0 ? "M" : "L"}${round(px(x))} ${round(py(y))}`)
      .join("");
    parts.push(`<path class="curve c${index}" d="${path}"/>`);
    const last = curve.points.at(-1);
    if (last) parts.push(text(width - right - 4, py(last[1]) - 6, curve.name, "end", `c${index}`));
  });
  for (const mark of chart.marks ?? []) {
    if (toAxis(mark.x) < x0 || toAxis(mark.x) > x1) continue;
    parts.push(
      `<line class="mark" x1="${round(px(mark.x))}" x2="${round(px(mark.x))}" y1="${top}" y2="${height - bottom}"/>`,
    );
    parts.push(text(px(mark.x) + 4, height - bottom - 6, mark.label, "start"));
  }
  parts.push(text(left + (width - left - right) / 2, height - 8, chart.x.label, "middle"));
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(chart.title)}">`,
    `<title>${escapeText(chart.title)}</title>`,
    text(left, 16, `${chart.title} (${chart.y.label})`, "start", "title"),
    ...parts,
    "</svg>",
  ].join("");
}

/** Text that is safe inside an element or a quoted attribute. */
export function escapeText(raw: string): string {
  return raw.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Round numbers that span a range. */
export function niceTicks(low: number, high: number, most: number): number[] {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const ticks: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * span; at += 1) ticks.push(at * step);
  return ticks;
}

function logTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of [1, 2, 5]) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

function text(x: number, y: number, content: string, anchor: string, className = ""): string {
  const classes = className ? ` class="${className}"` : "";
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${classes}>${escapeText(content)}</text>`;
}

function label(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
