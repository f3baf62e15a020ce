import type { Readable } from "node:stream";

/** A response that ended before all of it had come, or went on after. */
export class WrongLengthError extends Error {
  override readonly name = "WrongLengthError";
}

/**
 * Fills `target` from a response, exactly. Once the result stands, `target` is not touched any more, whatever still comes.
 */
export function readBody(body: Readable, target: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let at = 0;
    let isOver = false;
    const stop = (error?: Error) => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener("abort", abort);
      body.off("data", take);
      // Late errors of a connection we gave up on are of no interest, and would end the process.
      body.on("error", () => {});
      if (error === undefined) return resolve();
      body.destroy();
      reject(error);
    };
    const abort = () => stop(signal?.reason as Error);
    const take = (part: Uint8Array) => {
      if (part.length > target.length - at) return stop(wrongLength(at + part.length, target.length));
      target.set(part, at);
      at += part.length;
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    body.once("error", (error: Error) => stop(error));
    body.once("end", () => stop(at === target.length ? undefined : wrongLength(at, target.length)));
    body.once("close", () => stop(wrongLength(at, target.length)));
    body.on("data", take);
  });
}

function wrongLength(got: number, expected: number): WrongLengthError {
  return new WrongLengthError(`${got} bytes came instead of ${expected}`);
}
