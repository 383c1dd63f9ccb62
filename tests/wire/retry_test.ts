import { assert, assertEquals } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { nextRetry } from "../../src/wire/retry.ts";

const LIMITS = { maxRetries: 4, firstTokenTimeoutMs: 600_000 };
const REMOTE = "https://models.example/v1";

type Details = Partial<ConstructorParameters<typeof BackendError>[1]>;
const failure = (details: Details = {}): BackendError =>
  new BackendError("busy", { kind: "server", status: 503, retryable: true, ...details });

Deno.test("NET-10 nextRetry waits exponentially longer, up to a cap, with jitter, a bounded number of times", () => {
  const delays = (random: () => number, maxRetries = 4) => {
    const limits = { ...LIMITS, maxRetries };
    const found: number[] = [];
    for (let attempt = 1;; attempt++) {
      const retry = nextRetry(failure(), attempt, 0, REMOTE, limits, random);
      if (!retry) return found;
      assertEquals(retry.maxAttempts, maxRetries + 1);
      found.push(retry.delayMs);
    }
  };
  assertEquals(delays(() => 0), [1_000, 2_000, 4_000, 8_000]);
  assertEquals(delays(() => 1), [750, 1_500, 3_000, 6_000]);
  assertEquals(delays(() => 0, 7), [1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
  assertEquals(delays(() => 0, 0), []);
});

Deno.test("NET-10 nextRetry decides by the failure", () => {
  const said = "client error (Connect): tcp connect error: Connection refused (os error 111)";
  const cause = new TypeError("fetch failed", { cause: new Error(`error (http://x:1/): ${said}`) });
  const refused = { kind: "connection", status: undefined, cause } as const;
  const loading = { serverMessage: "Loading model" };
  const local = "http://localhost:11434/api/chat";
  type Row = [details: Details, url: string, attempt: number, elapsedMs: number, delayMs?: number];
  const rows: Row[] = [
    [{ retryable: false }, REMOTE, 1, 0],
    [{ retryAfterMs: 7_000 }, REMOTE, 1, 0, 7_000],
    // A wait shorter than the backoff would burn the attempts.
    [{ retryAfterMs: 1 }, REMOTE, 3, 0, 4_000],
    // All attempts together are bounded in time too.
    [{}, REMOTE, 1, 1_199_000, 1_000],
    [{}, REMOTE, 1, 1_199_001],
    // Nothing listens on this machine or network: once more, in case it is just starting.
    [refused, local, 1, 0, 200],
    [refused, "http://127.0.0.1:8080/v1", 1, 0, 200],
    [refused, "http://[::1]:8080/v1", 1, 0, 200],
    [refused, local, 2, 200],
    [refused, "http://192.168.1.5:8080/v1", 1, 0, 200],
    [refused, REMOTE, 2, 0, 2_000],
    [refused, "http://localhost.example/v1", 2, 0, 2_000],
    [{ kind: "connection", status: undefined }, local, 2, 0, 2_000],
    // No connection, or no answer at all within minutes.
    [{ kind: "timeout", status: undefined }, REMOTE, 1, 10_000, 1_000],
    [{ kind: "timeout", status: undefined }, REMOTE, 2, 20_000],
    [{ kind: "timeout", status: 200 }, REMOTE, 2, 20_000, 2_000],
    // A model that loads: as long as the first token may take, however many attempts that are.
    [loading, local, 100, 597_000, 2_000],
    [loading, local, 1, 598_000, 2_000],
    [loading, local, 1, 599_000],
    [{ ...loading, status: 500 }, local, 1, 0, 1_000],
  ];
  for (const [details, url, attempt, elapsedMs, delayMs] of rows) {
    const retry = nextRetry(failure(details), attempt, elapsedMs, url, LIMITS, () => 0);
    assertEquals(retry?.delayMs, delayMs, JSON.stringify([details, url, attempt, elapsedMs]));
    if (retry) assert(retry.maxAttempts > attempt);
  }
});

Deno.test("nextRetry: a session waits half a minute for a server that refuses, wherever it is", () => {
  const cause = new TypeError("Connection refused");
  const refused = failure({ kind: "connection", status: undefined, cause });
  const limits = { ...LIMITS, maxRetries: 1, awaitsRestart: true };
  for (const url of ["http://localhost:11434/api/chat", REMOTE]) {
    const waitOf = (attempt: number) => nextRetry(refused, attempt, 0, url, limits, () => 0);
    const waits = [1, 2, 3, 4, 5, 6, 7].map(waitOf);
    const seconds = waits.map((retry) => retry && retry.delayMs / 1_000);
    assertEquals(seconds, [1, 2, 4, 8, 8, 8, undefined]);
    assertEquals(waits[0]!.maxAttempts, 7);
  }
  const none = { ...limits, maxRetries: 0 };
  assertEquals(nextRetry(refused, 1, 0, REMOTE, none, () => 0), undefined);
  // Another failure is repeated as ever.
  assertEquals(nextRetry(failure(), 2, 0, REMOTE, limits, () => 0), undefined);
});

Deno.test("NET-10 nextRetry: no attempts but the first where none are wanted, and a minute for them", () => {
  const limits = { maxRetries: 0, firstTokenTimeoutMs: 600_000 };
  const loading = failure({ serverMessage: "Loading model" });
  assertEquals(nextRetry(loading, 1, 0, REMOTE, limits, () => 0), undefined);
  // However short the wait for the first token is.
  const short = { maxRetries: 4, firstTokenTimeoutMs: 1_000 };
  assertEquals(nextRetry(failure(), 1, 59_000, REMOTE, short, () => 0)?.delayMs, 1_000);
  assertEquals(nextRetry(failure(), 1, 59_001, REMOTE, short, () => 0), undefined);
});

Deno.test("nextRetry tells how often and how long a server that loads is asked", () => {
  const loading = failure({ serverMessage: "Loading model" });
  const retry = nextRetry(loading, 3, 590_000, REMOTE, LIMITS, () => 0)!;
  assertEquals([retry.maxAttempts, retry.note], [
    8,
    "; asking until it is loaded, for 10 s at most",
  ]);
});
