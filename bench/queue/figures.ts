import { formatBytes } from "../../src/core/index.ts";
import type { Figure } from "../case.ts";

const mib = 1024 * 1024;

/** Ours beside a peer, by items a second. */
export function ratioFigure(name: string, ours: number, peer: string, theirs: number, least: number): Figure {
  const ratio = ours / theirs;
  return {
    name,
    ours: `${show(ours)}/s`,
    peer: `${show(theirs)}/s (${peer})`,
    result: `${ratio.toFixed(2)}×`,
    bar: `≥ ${least}×`,
    isMet: ratio >= least,
  };
}

/** The most memory a process had. */
export function memoryFigure(name: string, bytes: number, mostMib: number): Figure {
  return {
    name: `memory, ${name}`,
    ours: formatBytes(bytes),
    peer: "",
    result: formatBytes(bytes),
    bar: `≤ ${mostMib} MiB`,
    isMet: bytes <= mostMib * mib,
  };
}

/** A wait that must not be longer. */
export function waitFigure(name: string, ms: number, mostMs: number): Figure {
  const seconds = `${(ms / 1000).toFixed(2)} s`;
  return { name, ours: seconds, peer: "", result: seconds, bar: `≤ ${mostMs / 1000} s`, isMet: ms <= mostMs };
}

function show(rate: number): string {
  return rate >= 1000 ? `${(rate / 1000).toFixed(1)}k` : rate.toFixed(0);
}
