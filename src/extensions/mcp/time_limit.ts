import { endingWith } from "../../wire/wait.ts";

/** The longest duration of one request, regardless of progress, in ms. */
const MAX_REQUEST_MS = 30 * 60_000;

/** Returns a signal for `signal` or `ms`, which `renew` restarts, up to half an hour. `isPaused` stops the clock. */
export function limitedBy(
  signal: AbortSignal | undefined,
  ms: number,
  words: string,
  isPaused: () => boolean = () => false,
) {
  const controller = endingWith(signal);
  const start = performance.now();
  const expire = () => {
    if (isPaused()) timer = setTimeout(expire, ms);
    else controller.abort(new Error(words));
  };
  let timer = setTimeout(expire, ms);
  if (signal?.aborted) controller.abort(signal.reason);
  return {
    signal: controller.signal,
    renew() {
      if (performance.now() - start > MAX_REQUEST_MS) return;
      clearTimeout(timer);
      timer = setTimeout(expire, ms);
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      controller[Symbol.dispose]();
    },
  };
}
