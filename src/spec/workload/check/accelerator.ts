import { suggest } from "../../suggest.ts";
import {
  acceleratorNames,
  findAccelerator,
  gpusOf,
  isGpuFamily,
  machinesOf,
  nodeCount,
  smallestMachine,
} from "../machines.ts";
import { writtenAccelerator } from "../read-workload.ts";
import { type Check, error, type Finding, warning } from "./finding.ts";

/** Accelerators against machine types: what does not exist is never scheduled, and nobody says why. */
export const checkAccelerator: Check = (workload, raw) => {
  const { machine } = raw;
  const written = writtenAccelerator(raw);
  if (machine !== undefined && isGpuFamily(machine) && gpusOf(machine).length === 0) {
    const near = suggest(machine, acceleratorNames.flatMap(machinesOf));
    return [error(["machine"], `there is no machine type ${machine}`, near ? `did you mean ${near}?` : "look it up")];
  }
  if (!written) return [];
  const { type, count } = written;
  if (findAccelerator(type) === undefined) {
    const short = acceleratorNames.map((name) => name.replace(/^nvidia-(tesla-)?/, ""));
    const near = suggest(type, [...acceleratorNames, ...short]);
    const hint = near ? `did you mean ${near}?` : `one of ${acceleratorNames.join(", ")}; TPUs are not written yet`;
    return [error(["accelerator"], `unknown accelerator ${type}`, hint)];
  }
  if (machine === undefined) return withoutMachine(type, count);
  if (nodeCount(machine, type, count) === undefined) return [misfit(machine, type, count)];
  const has = workload.accelerator?.nodeCount ?? count;
  if (has === count) return [];
  return [
    warning(
      ["accelerator"],
      `a ${machine} has ${has} × ${type} and a pod takes ${count}`,
      has % count === 0
        ? `${has / count} pods can share a node; the node is paid whole while one of them runs`
        : `${has - (has % count)} of ${has} can be used; take ${has} or a smaller machine`,
    ),
  ];
};

function withoutMachine(type: string, count: number): readonly Finding[] {
  if (smallestMachine(type, count) !== undefined) return [];
  const most = Math.max(
    ...machinesOf(type).flatMap((one) =>
      gpusOf(one).flatMap(({ accelerator, counts }) => (accelerator === type ? counts : [])),
    ),
  );
  return [
    error(
      ["accelerator"],
      `no machine carries ${count} × ${type}; ${most} is the most`,
      `ask for ${most} a pod and raise parallelism`,
    ),
  ];
}

function misfit(machine: string, type: string, count: number): Finding {
  const own = gpusOf(machine);
  const [has] = own;
  const right = smallestMachine(type, count);
  const hint = right ? `write machine: ${right}, or leave machine out` : `no machine carries so many ${type}`;
  if (!has) return error(["machine"], `a ${machine} carries no ${type}`, hint);
  if (!own.some(({ accelerator }) => accelerator === type)) {
    return error(["machine"], `a ${machine} carries ${has.accelerator}, not ${type}`, hint);
  }
  const most = Math.max(...own.flatMap(({ accelerator, counts }) => (accelerator === type ? counts : [])));
  return error(["machine"], `a ${machine} holds ${most} × ${type}, and a pod wants ${count}`, hint);
}
