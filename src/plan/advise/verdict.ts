import type { OptionName, PlanInputs, UsableOption } from "../types.ts";

/** What the comparison comes to, before it is put into words. */
export interface Ranking {
  readonly choice: UsableOption | undefined;
  readonly runnerUp: UsableOption | undefined;
  /** How much cheaper than the runner-up, as a share of its cost. */
  readonly margin: number | undefined;
  /** The runner-up's cost lies inside the band of the choice: a run may well come out the other way. */
  readonly isTooClose: boolean;
}

/** Ranks the options that are sure enough of the deadline by their mean cost. */
export function rank(options: readonly UsableOption[], inputs: PlanInputs): Ranking {
  const sure = options.filter((option) => isSure(option, inputs));
  // The hybrid is Spot with an insurance: where Spot alone is sure enough there is nothing to insure.
  const isInsured = sure.some(({ name }) => name === "spot");
  const fit = sure.filter(({ name }) => !(isInsured && name === "hybrid")).sort((a, b) => a.cost.mean - b.cost.mean);
  const [choice, runnerUp] = fit;
  if (!choice || !runnerUp) return { choice, runnerUp, margin: undefined, isTooClose: false };
  const margin = 1 - choice.cost.mean / runnerUp.cost.mean;
  const isTooClose = runnerUp.cost.mean <= choice.cost.p90 || choice.cost.mean >= runnerUp.cost.p10;
  return { choice, runnerUp, margin, isTooClose };
}

/** Whether an option is sure enough to be over in time; one whose waits nobody knows is not ruled out. */
export function isSure({ onTime }: UsableOption, { deadline, confidence }: PlanInputs): boolean {
  return deadline === undefined || onTime === undefined || onTime >= confidence;
}

const names: Readonly<Record<OptionName, string>> = {
  "on-demand": "on-demand",
  "flex-start": "flex-start",
  spot: "Spot",
  hybrid: "Spot with on-demand to keep the deadline",
};

/** An option's name in a sentence. */
export function optionTitle(name: OptionName): string {
  return names[name];
}

/** The verdict as one sentence. */
export function verdictText(
  ranking: Ranking,
  inputs: PlanInputs,
  show: { readonly money: (amount: number) => string; readonly hours: (hours: number) => string },
): string {
  const { choice, runnerUp, margin, isTooClose } = ranking;
  if (!choice) {
    const deadline = inputs.deadline === undefined ? "" : ` of ${show.hours(inputs.deadline)}`;
    return `Nothing meets the deadline${deadline} with ${percent(inputs.confidence)}: move it, or cut the work.`;
  }
  const costs = `${show.money(choice.cost.mean)} (${show.money(choice.cost.p10)}–${show.money(choice.cost.p90)})`;
  if (!runnerUp || margin === undefined) return `Take ${optionTitle(choice.name)}: ${costs}; nothing else fits.`;
  const against = `${optionTitle(runnerUp.name)} (${show.money(runnerUp.cost.mean)})`;
  if (isTooClose) {
    return `Too close to call: ${optionTitle(choice.name)} at ${costs} against ${against}, ${percent(margin)} apart and inside the band.`;
  }
  return `Take ${optionTitle(choice.name)}: ${costs}, ${percent(margin)} under ${against}.`;
}

/** A share for people. */
export function percent(share: number): string {
  const value = share * 100;
  return `${Math.abs(value) < 10 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}
