/** Waits for `promise` or for `signal`, whichever comes first; a call stuck in the kernel must not hold up a deadline. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) {
      stop();
      // The outcome is no longer of interest to anyone; without this a late failure would end the process.
      promise.catch(() => {});
      return;
    }
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
