import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { BackendErrorKind } from "../../src/errors.ts";
import {
  failureFromErrorObject,
  failureFromResponse,
  retryAfterMs,
} from "../../src/wire/failure.ts";
import { anthropic, llamaOverflow, openai, ROWS } from "../fixtures/failures.ts";
import { cpuTime } from "../helpers/cpu_time.ts";

const URL_OF_CHAT = "https://models.example:8443/v1/chat/completions";
const HTML = { "content-type": "text/html; charset=utf-8" };

/** The failure that an answer is; a body that is no text is JSON. */
function failure(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return failureFromResponse(status, new Headers(headers), text, URL_OF_CHAT);
}

Deno.test("NET-10 NET-11 failureFromResponse reads every server's errors", () => {
  for (const [name, status, body, kind, retryable, says] of ROWS) {
    const isJson = typeof body !== "string";
    const error = failure(status, body, isJson ? { "content-type": "application/json" } : {});
    assertEquals([error.kind, error.retryable, error.status], [kind, retryable, status], name);
    assert(error.message.startsWith(`models.example:8443 answered ${status}`), error.message);
    assert(error.message.includes(says), `${name}: ${error.message}`);
    if (isJson && says.startsWith(": ")) assertEquals(error.serverMessage, says.slice(2));
    // The path is shown where it may be wrong, the type where the body is none of an API.
    const isMisplaced = (status === 404 || status === 405) &&
      (kind === "request" || kind === "protocol");
    assertEquals(error.message.includes(" at /v1/chat/completions"), isMisplaced, name);
    assert(!/\(\)|application\/json/.test(error.message), error.message);
    assert(!/[\r\n]/.test(error.message), name);
  }
});

Deno.test("failureFromResponse knows a request too long and a missing model by their words", () => {
  const rows: [says: string, kind: BackendErrorKind, statuses: number[]][] = [
    ["maximum context length", "context_too_long", [400, 404, 413, 422, 500]],
    ["invalid model name", "model_not_found", [400, 404, 422, 500]],
    ["incorrect api key", "auth", [400, 500]],
  ];
  for (const [error, kind, statuses] of rows) {
    for (const status of [400, 404, 413, 422, 500]) {
      const read = failure(status, { error });
      const other = status === 500 ? "server" : status === 413 ? "context_too_long" : "request";
      assertEquals(read.kind, statuses.includes(status) ? kind : other, `${status} ${error}`);
      assertEquals(read.retryable, read.kind === "server");
    }
  }
  // Words far from the beginning are of a page, or of a text that the server quotes.
  const far = { error: `${"x ".repeat(5_000)}maximum context length` };
  assertEquals(failure(400, far).kind, "request");
});

Deno.test("NET-11 failureFromResponse reads errors within errors, down to the eighth", () => {
  const wrapped = (inner: unknown, times: number, wrap: (inner: unknown) => unknown) =>
    Array.from({ length: times }).reduce(wrap, inner);
  const error = (inner: unknown) => ({ error: inner });
  const list = (inner: unknown) => [inner];
  const text = (inner: unknown) => JSON.stringify({ error: inner });
  const ofProvider = { message: "m", metadata: { raw: "deep" } };
  const rows: [body: unknown, says: string][] = [
    [wrapped("deep", 8, error), "deep"],
    [wrapped("deep", 9, error), '{"error":"deep"}'],
    [error(wrapped("deep", 7, list)), "deep"],
    [error(wrapped("deep", 8, list)), '{"error":[[[[[[[["deep"]]]]]]]]}'],
    [error(wrapped("deep", 3, text)), "deep"],
    [error(wrapped("deep", 4, text)), '{"error":"deep"}'],
    [wrapped(ofProvider, 7, error), "m: deep"],
  ];
  for (const [body, says] of rows) {
    assertEquals(failure(400, body).serverMessage, says);
  }
});

Deno.test("NET-11 failureFromResponse makes one line of pages and control characters", () => {
  const head = "<!DOCTYPE html>\n<html><head><title>\n502 Bad\x1b[31m Gateway</title></head>";
  const title = failure(502, `${head}<body><script>x()</script>`, HTML);
  assertEquals(title.message, 'models.example:8443 answered 502 (text/html): "502 Bad Gateway"');
  assertEquals(title.serverMessage, "502 Bad Gateway");
  const body = failure(503, "<html><style>p{}</style><p>No <b>server</b></p></html>", HTML);
  assertEquals(body.message, 'models.example:8443 answered 503 (text/html): "No server"');
  const page = failure(503, `<html>${"<p>x</p>".repeat(700)}<title>late</title>`, HTML);
  assert(page.serverMessage?.startsWith("x x"), "the beginning of a page is enough");
  const long = failure(500, { error: "x".repeat(9_000) });
  assertEquals(long.serverMessage?.length, 200);
  assert(long.message.length < 260);
});

Deno.test("NET-11 a page instead of an answer is no model server's, where a server of pages sends such a status", () => {
  // deno-fmt-ignore
  const rows: [status: number, body: string, kind: string, says: string][] = [
    [501, "<html><title>Error", "protocol", ' (text/html), which is not an answer of a model server: "Error"'],
    [
      404,
      "404 page not found",
      "protocol",
      ' at /v1/chat/completions (text/html), which is not an answer of a model server: "404 page not found"',
    ],
    [405, "no", "protocol", ' at /v1/chat/completions (text/html), which is not an answer of a model server: "no"'],
    [404, "", "request", " at /v1/chat/completions (text/html) with an empty body"],
    [404, "model 'm' not found", "model_not_found", " (text/html): \"model 'm' not found\""],
    [404, '{"error":"gone"}', "request", " at /v1/chat/completions: gone"],
    [502, "<html><title>Error", "server", ' (text/html): "Error"'],
    [403, "<html><title>Error", "auth", ' (text/html): "Error"'],
  ];
  for (const [status, body, kind, says] of rows) {
    const error = failure(status, body, HTML);
    assertEquals(
      [error.kind, error.message, error.retryable],
      [kind, `models.example:8443 answered ${status}${says}`, status === 502],
    );
  }
});

Deno.test("SEC-03 failureFromResponse refuses redirects and shows no more than the address", () => {
  const rows: [location: string, target: string][] = [
    ["https://other.example/login?token=secret#x", "https://other.example/login"],
    ["http://user:pass@models.example/v1", "http://models.example/v1"],
    ["/elsewhere", "https://models.example:8443/elsewhere"],
    ["http://[", "http://["],
  ];
  for (const [location, target] of rows) {
    const error = failure(307, "", { location });
    assertEquals([error.kind, error.retryable, error.status], ["redirect", false, 307]);
    const says = `redirects to ${target} (307), which is not followed`;
    assertStringIncludes(error.message, says);
  }
  const kindOf = (status: number) => failure(status, "", { location: "/elsewhere" }).kind;
  assertEquals([300, 399, 400].map(kindOf), ["redirect", "redirect", "request"]);
});

Deno.test("NET-10 retryAfterMs reads seconds, dates and milliseconds", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const rows: [headers: Record<string, string>, ms: number | undefined][] = [
    [{}, undefined],
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": " 1.5 " }, 1_500],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }, undefined],
    [{ "retry-after-ms": "250" }, 250],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after-ms": "x", "retry-after": "9" }, 9_000],
  ];
  for (const [headers, ms] of rows) assertEquals(retryAfterMs(new Headers(headers), now), ms);
});

Deno.test("NET-10 failureFromResponse obeys retry-after up to its cap, and x-should-retry", () => {
  type Headers = Record<string, string>;
  const rows: [status: number, headers: Headers, retryable: boolean, after?: number][] = [
    [429, { "retry-after": "60" }, true, 60_000],
    [429, { "retry-after": "61" }, false, 61_000],
    [429, { "retry-after": "61", "x-should-retry": "true" }, false, 61_000],
    [500, { "x-should-retry": "false" }, false],
    [400, { "x-should-retry": "true" }, true],
    [400, { "x-should-retry": "perhaps" }, false],
  ];
  for (const [status, headers, retryable, after] of rows) {
    const error = failure(status, "busy", headers);
    assertEquals([error.retryable, error.retryAfterMs], [retryable, after]);
    assertEquals(error.message.includes("it asks to wait 61 s"), after === 61_000);
  }
});

Deno.test("NET-03 failureFromErrorObject finds the errors inside a 200 stream", () => {
  // deno-fmt-ignore
  const rows: [value: unknown, kind: BackendErrorKind, retryable: boolean, says: string][] = [
    [anthropic("overloaded_error", "Overloaded"), "server", true, "Overloaded"],
    [anthropic("invalid_request_error", "prompt is too long: 3 tokens > 2"), "context_too_long", false, "too long"],
    [openai("Rate limit", "requests", "rate_limit_exceeded"), "rate_limit", true, "Rate limit"],
    [openai("quota", "insufficient_quota", "insufficient_quota"), "rate_limit", false, "quota"],
    [{ error: { code: "502", message: "upstream" }, choices: [] }, "server", true, "upstream"],
    [{ error: "an error was encountered while running the model: unexpected EOF" }, "server", true, "unexpected EOF"],
    [{ error: JSON.stringify(llamaOverflow) }, "context_too_long", false, "1010"],
    [{ object: "error", message: "boom", type: "InternalServerError", code: 500 }, "server", true, "boom"],
    [[{ error: { code: 429, message: "exhausted", status: "RESOURCE_EXHAUSTED" } }], "rate_limit", true, "exhausted"],
    [{ type: "error" }, "server", true, "error"],
    // Numbers that are no status of an error.
    [{ error: { code: 399, message: "low" } }, "server", true, "low"],
    [{ error: { code: 600, message: "high" } }, "server", true, "high"],
  ];
  for (const [value, kind, retryable, says] of rows) {
    const error = failureFromErrorObject(value);
    assertEquals([error?.kind, error?.retryable], [kind, retryable], JSON.stringify(value));
    assert(error?.message.includes(says), error?.message);
  }
});

Deno.test("NET-03 failureFromErrorObject goes by the type where there is no status", () => {
  const rows: [types: string[], kind: BackendErrorKind, retryable: boolean][] = [
    [["overloaded_error", "timeout_error", "GatewayTimeoutError"], "server", true],
    [["unavailable_error", "unheard_of"], "server", true],
    [["rate_limit_error", "rate_limit_exceeded", "requests"], "rate_limit", true],
    [["tokens", "RateLimitError"], "rate_limit", true],
    [["billing_error", "insufficient_quota"], "rate_limit", false],
    [["not_found_error", "NotFoundError"], "request", false],
    [["request_too_large"], "context_too_long", false],
    [["invalid_request_error", "BadRequestError"], "request", false],
    [["model_not_found"], "model_not_found", false],
    [["permission_error", "authentication_error", "invalid_api_key"], "auth", false],
    [["exceed_context_size_error", "context_length_exceeded"], "context_too_long", false],
  ];
  for (const [types, kind, retryable] of rows) {
    for (const type of types) {
      const error = failureFromErrorObject({ error: { type, message: "no" } });
      assertEquals([error?.kind, error?.retryable], [kind, retryable], type);
    }
  }
});

Deno.test("failureFromErrorObject leaves answers alone", () => {
  const rows: unknown[] = [
    ...[null, "error", 3, [], {}, { error: "" }, { error: {} }, { error: false }],
    { error: null, choices: [] },
    { message: { role: "assistant", content: "error" }, done: true },
    { detail: "x" },
    { type: "message", content: [] },
    { object: "chat.completion", choices: [{ message: { content: '{"error":"x"}' } }] },
  ];
  for (const value of rows) assertEquals(failureFromErrorObject(value), undefined);
});

Deno.test("failures are read from hostile bodies without harm", () => {
  const cut = '{"error":'.repeat(50_000);
  const deep = `${'{"error":'.repeat(20_000)}1${"}".repeat(20_000)}`;
  const nested = [..."abcdefgh"].reduce((inner) => JSON.stringify({ error: inner }), "deep");
  const begin = cpuTime();
  const pages = ["[".repeat(60_000), `<html>${"<".repeat(60_000)}`];
  const words = [`<html>${"<script".repeat(9_000)}`, `{"error":"${"model ".repeat(9_000)}"}`];
  for (const body of [cut, deep, nested, ...pages, ...words]) {
    assertEquals(failure(400, body).kind, "request");
  }
  assert(cpuTime() - begin < 5_000);
});

Deno.test("the window and the prompt of a refusal that gives them as fields, however deep", () => {
  const fields = { message: "too long.", n_prompt_tokens: 5000, n_ctx: 4096 };
  const error = { ...fields, type: "exceed_context_size_error" };
  for (const body of [{ error }, { error: JSON.stringify({ error }) }]) {
    const refusal = failure(400, body);
    assertEquals(refusal.contextTokens, { prompt: 5000, window: 4096 });
    assertStringIncludes(refusal.message, "too long. (5000 tokens, of 4096)");
  }
  // One of the two alone says nothing.
  for (const { n_ctx, ...one } of [fields, { ...fields, n_prompt_tokens: undefined }]) {
    const window = !one.n_prompt_tokens && { n_ctx };
    const error = { ...one, ...window, type: "exceed_context_size_error" };
    const refusal = failure(400, { error });
    assertEquals(refusal.contextTokens, { prompt: undefined, window: undefined });
    assertEquals(refusal.serverMessage, "too long.");
  }
  assertEquals(failure(429, { error: fields }).contextTokens, undefined);
});
