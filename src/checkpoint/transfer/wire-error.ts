import { type ErrorCode, isOutlastError, OutlastError, type Recovery } from "../../core/index.ts";

/** An error as it crosses between threads. */
export interface WireError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code?: ErrorCode;
  readonly hint?: string | undefined;
  readonly operation?: string | undefined;
  readonly target?: string | undefined;
  readonly recovery?: Recovery;
  /** The system error underneath, for people. */
  readonly cause?: string | undefined;
}

/** Takes an error apart for another thread. */
export function packError(error: unknown): WireError {
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  if (!isOutlastError(error)) return { message, stack };
  const { code, hint, operation, target, recovery, cause } = error;
  return {
    message,
    stack,
    code,
    hint,
    operation,
    target,
    recovery,
    cause: cause instanceof Error ? cause.message : undefined,
  };
}

/** Puts an error from another thread together again. */
export function unpackError(wire: WireError): Error {
  const { code, hint, operation, target, recovery, cause, message, stack } = wire;
  const error = code
    ? new OutlastError(code, message, {
        ...(hint !== undefined && { hint }),
        ...(operation !== undefined && { operation }),
        ...(target !== undefined && { target }),
        ...(recovery !== undefined && { recovery }),
        ...(cause !== undefined && { cause: new Error(cause) }),
      })
    : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
