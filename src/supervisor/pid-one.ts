import { accessSync, constants } from "node:fs";

/** Tells the second start that the shell is PID 1; taken out of the environment at once. */
const handedOver = "OUTLAST_UNDER_INIT";

/**
 * A shell that stays PID 1: it passes signals on and collects every process that ends, ours or not, because `wait` in a POSIX shell reaps
 * whatever it is handed. The traps stand before the program is started, and what arrives in between is delivered afterwards.
 */
const init = `
t=; p=
for s in TERM INT QUIT HUP USR1 USR2; do
  trap "t=\\"\\$t $s\\"; [ -z \\"\\$p\\" ] || kill -$s \\$p 2>/dev/null" $s
done
exec 3<&0
"$@" <&3 3<&- &
p=$!
exec 3<&-
for s in $t; do kill -$s $p 2>/dev/null; done
while :; do
  wait $p; c=$?
  kill -0 $p 2>/dev/null || break
done
wait $p 2>/dev/null; d=$?
[ $d -eq 127 ] || c=$d
exit $c
`;

/**
 * As PID 1 of a container, puts a shell in our place and starts this program anew below it. The kernel hands orphans to PID 1, and Node
 * cannot wait for processes that it did not start: each would stay a zombie and hold a process number. Returns (having done nothing) when
 * this is not PID 1, or when there is no shell or no `process.execve` (Node 22.15 has it): then the supervisor warns when they pile up.
 */
export function handOverPidOne(shell = "/bin/sh"): void {
  if (process.pid !== 1 || process.env[handedOver] !== undefined || !canExecute(shell)) return;
  const { execve } = process as { execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never };
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  execve?.call(process, shell, ["sh", "-c", init, "outlast-init", ...program], { ...process.env, [handedOver]: "1" });
}

/** Whether this process is a container's main process, by itself or below the shell that {@link handOverPidOne} left as PID 1. */
export function isMainProcess(): boolean {
  const isBelow = process.ppid === 1 && process.env[handedOver] !== undefined;
  delete process.env[handedOver];
  return process.pid === 1 || isBelow;
}

function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // A distroless image has no shell.
    return false;
  }
}
