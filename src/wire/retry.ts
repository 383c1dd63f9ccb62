import type { ConnectionSettings } from "../config.ts";
import type { BackendError } from "../errors.ts";
import type { RetryNotice } from "../types/event.ts";
import { isNear, isRefused } from "./connect.ts";

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 8_000;
/** The wait between two requests to a server that is loading its model. */
export const LOADING_DELAY_MS = 2_000;
/** The wait for a server on this machine or network that refuses: it is not running, or just starting. */
const REFUSED_DELAY_MS = 200;
/** The number of attempts to reach a server that may be restarting: 31 s in all. */
const RESTART_RETRIES = 6;
/** The minimum time for all attempts together, even if the first-token limit is shorter. */
const MIN_BUDGET_MS = 60_000;

interface Retry extends Omit<RetryNotice, "attempt" | "reason"> {
  /** Text to append to the failure's message. */
  note?: string;
}

/** True for llama.cpp's refusal while it loads its model. */
export function isLoading({ status, serverMessage = "" }: BackendError): boolean {
  return status === 503 && /loading model/i.test(serverMessage);
}

/** Returns the attempt after number `attempt` (from 1), which failed with `error`; undefined to give up. */
export function nextRetry(
  error: BackendError,
  attempt: number,
  elapsedMs: number,
  url: string,
  limits: Pick<ConnectionSettings, "maxRetries" | "firstTokenTimeoutMs"> & {
    awaitsRestart?: boolean | undefined;
  },
  random: () => number,
): Retry | undefined {
  if (!error.retryable || limits.maxRetries === 0) return undefined;
  const left = limits.firstTokenTimeoutMs - elapsedMs;
  // Loading takes minutes, so the limit is a time, not a number of attempts.
  if (isLoading(error)) {
    if (left < LOADING_DELAY_MS) return undefined;
    return {
      delayMs: LOADING_DELAY_MS,
      maxAttempts: attempt + Math.floor(left / LOADING_DELAY_MS),
      isLoading: true,
      note: `; asking until it is loaded, for ${Math.ceil(left / 1_000)} s at most`,
    };
  }
  const isRefusal = error.kind === "connection" && isRefused(error.cause);
  const backoff = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
  if (isRefusal && limits.awaitsRestart) {
    if (attempt > RESTART_RETRIES) return undefined;
    return { delayMs: backoff, maxAttempts: 1 + RESTART_RETRIES };
  }
  const refused = isRefusal && isNear(url);
  // A missing server gets one more attempt, so that the user does not wait in vain.
  const once = refused || (error.kind === "timeout" && error.status === undefined);
  const maxAttempts = 1 + (once ? 1 : limits.maxRetries);
  // Jitter, so that clients that failed together do not return together.
  const delayMs = refused
    ? REFUSED_DELAY_MS
    : Math.round(Math.max(backoff * (1 - random() / 4), error.retryAfterMs ?? 0));
  const budget = Math.max(MIN_BUDGET_MS, 2 * limits.firstTokenTimeoutMs);
  if (attempt >= maxAttempts || elapsedMs + delayMs > budget) return undefined;
  return { delayMs, maxAttempts };
}
