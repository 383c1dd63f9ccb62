/** Converts the answers of servers that refuse or fail into {@linkcode BackendError}s. Pure. @module */

import { BackendError, type BackendErrorKind, type ContextTokens } from "../errors.ts";
import { isObject, jsonOrUndefined } from "../text/json.ts";
import { excerpt, redactedLine } from "./excerpt.ts";

/** The maximum wait that a server may ask for before the next attempt. A longer one fails at once. */
const MAX_RETRY_AFTER_MS = 60_000;

interface ServerReport {
  message: string;
  labels: string[];
  status?: number | undefined;
  tokens?: ContextTokens;
}

const NOT_AS_WANTED = ", which is not an answer of a model server";
/** Statuses of a web server that is not a model server, if the body is not JSON. */
const PAGE_STATUSES = [404, 405, 501];

/** Returns the error for a refusal, or for a 2xx answer that is not a model's, such as a login page. */
export function failureFromResponse(
  status: number,
  headers: Headers,
  bodyText: string,
  url: string,
): BackendError {
  const { host, pathname } = new URL(url);
  const type = contentType(headers);
  if (status < 300) {
    const serverMessage = excerpt(pageText(bodyText));
    const shown = serverMessage === "" ? "the body is empty" : `"${serverMessage}"`;
    const form = type || "no content type";
    const message = `${host} answered ${status} (${form})${NOT_AS_WANTED}: ${shown}`;
    return new BackendError(message, { kind: "protocol", status, serverMessage });
  }
  const target = redirectTarget(status, headers, url);
  if (target !== undefined) {
    const message = `${host} redirects to ${target} (${status}), which is not followed`;
    return new BackendError(message, { kind: "redirect", status });
  }
  const value = jsonOrUndefined(bodyText);
  const report = typeof value === "object" && value !== null ? readReport(value) : undefined;
  const page = { message: excerpt(pageText(bodyText)), labels: [] };
  const details = detailsOf(status, report ?? page);
  const { serverMessage: said } = details;
  const isPage = report === undefined && said !== "" && PAGE_STATUSES.includes(status) &&
    (details.kind === "request" || details.kind === "server");
  if (isPage) details.kind = "protocol";
  const waitMs = namedWaitMs(details.words ?? "");
  const after = retryAfterMs(headers) ?? waitMs;
  const isTooLong = after !== undefined && after > MAX_RETRY_AFTER_MS;
  const shouldRetry = headers.get("x-should-retry");
  // The path is shown because the base address often lacks its /v1, or has one too many.
  const isMisplaced = (status === 404 || status === 405) && (isPage || details.kind === "request");
  const at = isMisplaced ? ` at ${excerpt(pathname)}` : "";
  const quoted = said === "" ? " with an empty body" : `: "${said}"`;
  const shown = report ? `: ${said}` : isPage ? `${NOT_AS_WANTED}${quoted}` : quoted;
  return new BackendError(
    `${host} answered ${status}${at}${report || type === "" ? "" : ` (${type})`}${shown}` +
      (isTooLong ? `; it asks to wait ${Math.ceil(after / 1000)} s` : ""),
    {
      ...details,
      status,
      retryable: !isTooLong &&
        (shouldRetry === "true" || shouldRetry !== "false" &&
            // A quota per minute has the same wording as one per month, but says when it ends.
            (details.retryable || waitMs !== undefined && details.kind === "rate_limit")),
      retryAfterMs: after,
    },
  );
}

/** Returns the error in a value of a 200 answer; undefined for other values, unless `isMarked`. */
export function failureFromErrorObject(value: unknown, isMarked = false): BackendError | undefined {
  // Google's compatible endpoint wraps its error object in an array.
  const object = Array.isArray(value) ? value[0] : value;
  if (!isObject(object)) return undefined;
  // Ollama has used its message as the key.
  const key = Object.keys(object).find((name) => /^error\b/.test(name)) ?? "error";
  const error = key === "error" || !object[key] ? object.error : `${key}: ${object[key]}`;
  const { type } = object;
  const isError = isMarked || type === "error" || object.object === "error" ||
    (isObject(error) ? Object.keys(error).length > 0 : Boolean(error));
  if (!isError) return undefined;
  const report = readReport({ ...object, ...error !== undefined && { error } });
  const details = detailsOf(report.status ?? 500, report);
  return new BackendError(`The server reported an error: ${details.serverMessage}`, details);
}

/** @throws {BackendError} if `value` is an error object, or `isMarked` as one. */
export function throwErrorObject(value: unknown, isMarked = false): void {
  const failure = failureFromErrorObject(value, isMarked);
  if (failure) throw failure;
}

/** Returns the content type in lower case without parameters; empty if it is missing. */
export function contentType(headers: Headers): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return excerpt(type).toLowerCase();
}

/** Returns the wait that `retry-after-ms` or `retry-after` (seconds or a date) asks for, in milliseconds. */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | undefined {
  const seconds = headers.get("retry-after");
  const wait = [
    parseFloat(headers.get("retry-after-ms") ?? ""),
    /^\s*\d/.test(seconds ?? "") ? parseFloat(seconds!) * 1000 : Date.parse(seconds ?? "") - now,
  ].find((ms) => ms >= 0);
  return wait === undefined ? undefined : Math.ceil(wait);
}

/** Returns the wait in a message, in milliseconds: "try again in 20s", "in 1m2.5s", "retry after 3 seconds". */
function namedWaitMs(message: string): number | undefined {
  const [, words] =
    /\b(?:try again|retry|retrying|wait|retryDelay)\b\D{0,20}?((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b\s*)+)/i
      .exec(message.replace(/(?<=\d[hms])(?=\d)/g, " ")) ?? [];
  if (words === undefined) return undefined;
  const units = { ms: 1, mi: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return [...words.matchAll(/([\d.]+)\s*(\w+)/g)].reduce((sum, [, count, unit]) => {
    const key = /^milli|^ms/.test(unit!) ? "ms" : unit![0] as "s" | "m" | "h";
    return sum + Math.ceil(Number(count) * units[key]);
  }, 0);
}

/** The kind of error for each status, unless a row of {@linkcode QUIRKS} applies. */
const STATUS_KIND: Readonly<Record<number, BackendErrorKind>> = {
  401: "auth",
  402: "rate_limit", // DeepSeek and OpenRouter: no credit left.
  403: "auth",
  429: "rate_limit",
};
/** Statuses of requests that may succeed later. 520 to 524 are Cloudflare's, 529 Anthropic's. */
const RETRYABLE = [408, 409, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529];

/** Statuses for the types of error objects that come without a status. */
const TYPE_STATUS: readonly (readonly [RegExp, number])[] = [
  [/^overloaded_error$/, 529], // Anthropic
  [/^(timeout_error|GatewayTimeoutError)$/, 504],
  [/^unavailable_error$/, 503], // llama.cpp
  [/^(rate_limit_error|rate_limit_exceeded|requests|tokens|RateLimitError)$/, 429],
  [/^request_too_large$/, 413], // Anthropic
  [/^(not_found_error|NotFoundError|model_not_found)$/, 404],
  [/^permission_error$/, 403],
  [/^(billing_error|insufficient_quota)$/, 402], // Anthropic, OpenAI
  [/^(authentication_error|invalid_api_key)$/, 401],
  [/^(invalid_request_error|BadRequestError)$/, 400],
  [/^(exceed_context_size_error|context_length_exceeded)$/, 400],
];

const anyOf = (...patterns: string[]) => new RegExp(patterns.join("|"), "is");

/** Matches refusals because of the context window, in the words of all known servers. */
const TOO_LONG_WORDS = anyOf(
  // The text that is too long, and its limit, in either order.
  "\\b(?:exceed\\w*|overflow\\w*|(?:longer|larger|greater|more|bigger|less) than|over|beyond|too (?:long|large|big) for)\\b.{0,80}\\b(?:context|max(?:imum)? (?:model|input|sequence|prompt|number of (?:input )?tokens)|max_(?:num_tokens|seq_len|model_len|input)|token limit|n_ctx)",
  "\\b(?:context(?:[ _-]?(?:length|window|size|limit))?|token count|(?:prompt|input) tokens?|tokens? limit)\\b.{0,60}\\b(?:exceed\\w*|overflow\\w*|too small)",
  "\\b(?:prompt|inputs?|input prompt|requested tokens)(?: is| are)? too (?:long|large)\\b",
  "context_length_exceeded|exceed_context_size|context_window_exceeded|ContextWindowExceeded", // labels
  "context (?:shift is disabled|the overflows)", // llama.cpp and ik_llama.cpp, LM Studio
  "\\bmax_num_tokens\\b", // TensorRT-LLM
  "maximum (?:context|prompt) length|maximum model length", // vLLM, Mistral, DeepSeek, xAI
  "reduce the length of the (?:messages|input)", // Groq, vLLM
  "`inputs` (?:tokens \\+ `max_new_tokens`|must have less than)", // text-generation-inference
  "range of input length should be", // DashScope
  "prompt_too_long|too long to fit|prompt exceeds max|message size \\d+ exceeds|max length exceeded",
  "\\b(?:sequence length|context (?:length|window)) is\\b", // mistral.rs, SambaNova, RKLLM
  "max_tokens must be at least 1, got -", // an older vLLM: the rest of its window
  "no user query found", // Ollama, which dropped the user's message to fit the rest
  "n_keep \\(\\d+\\) >= n_ctx", // LM Studio
  "required for long context requests", // Anthropic
  "prompt token count of \\d+ exceeds", // GitHub Copilot
  "too many (?:input )?tokens\\b(?!.{0,40}\\bper\\b)|not enough (?:context|kv cache)",
);

/** Matches failures of servers that could not parse a call of the model. */
export const UNREAD_CALL = anyOf(
  "pars\\w* tool call|tool call\\W.{0,40}pars|tool call validation failed|failed to call a function",
  "failed to parse (?:input at pos|xml:|json: unexpected end)|invalid diff:", // llama.cpp, Ollama
  "xml syntax error|expected element type <|mismatched arg_key", // Ollama
);

/** Failures with a wrong or vague status. The first row whose statuses, labels and words match applies. */
const QUIRKS: readonly {
  statuses: number[];
  kind: BackendErrorKind;
  pattern: RegExp;
  /** True if the same request may succeed later. Default: false. */
  retryable?: true;
}[] = [
  // A limit of the answer alone. Compaction would not help.
  {
    statuses: [400, 422],
    kind: "request",
    pattern:
      /^(?!.*context).*max(?:imum)?_?(?:completion_|new_|output_)?tokens.{0,60}(?:too large|at most|less than or equal)/is,
  },
  {
    statuses: [400, 402, 403, 404, 413, 422, 500, 503],
    kind: "context_too_long",
    pattern: TOO_LONG_WORDS,
  },
  // A proxy, Groq or Cerebras refuses the body for its size. A shorter conversation passes.
  { statuses: [413], kind: "context_too_long", pattern: /^/ },
  {
    statuses: [400, 404, 422, 500],
    kind: "model_not_found",
    pattern: anyOf(
      "model_not_found", // OpenAI, LM Studio, Groq
      "\\bmodel\\b.{0,200}?\\b(not found|not exist)", // Ollama, llama.cpp, vLLM, DeepSeek
      "not_found_error.{0,20}\\bmodel:", // Anthropic
      "not a valid model", // OpenRouter
      "invalid model", // Mistral, Ollama
      "DeploymentNotFound", // Azure
    ),
  },
  // xAI and Google answer a wrong key with 400, LiteLLM with 500.
  {
    statuses: [400, 500],
    kind: "auth",
    pattern: /(incorrect|invalid) api key|api key not valid|AuthenticationError/i,
  },
  // Refusals with status 500. llama.cpp: arguments and tools in the history that it cannot parse, tools without
  // --jinja, images for a model without vision. Also errors of chat templates, and of the checks of
  // llama-cpp-python and LiteLLM.
  {
    statuses: [500],
    kind: "request",
    pattern: anyOf(
      "failed to parse tool|requires --jinja|unsupported (?:param|tool_call)|\\b(image|audio|video) input is not supported",
      "jinja|raise_exception|\\btemplate\\b.{0,40}(?:error|exception|fail|support)|(?:applying|rendering).{0,20}template",
      "roles must alternate|only user(?:,| and) |role not supported",
      "requires more system memory|out of memory",
      "input should be a valid|BadRequestError|UnsupportedParamsError|does not support (?:tools|thinking)",
    ),
  },
  // The agent asks for another call.
  { statuses: [500], kind: "server", pattern: UNREAD_CALL },
  // LM Studio reloads a model that crashed.
  { statuses: [400], kind: "server", pattern: /model has crashed/i, retryable: true },
  // Quotas and spending limits do not end within seconds.
  {
    statuses: [400, 403, 429, 500, 502, 503],
    kind: "rate_limit",
    pattern:
      /insufficient_quota|enforced_spend_limit_reached|exceeded your current quota|credit balance|insufficient (?:balance|credits|funds)|billing_error|plan and billing|usage[ _]limit|使用上限|quota reached|\bper ?day\b/i,
  },
];

function detailsOf(
  status: number,
  report: ServerReport,
): ConstructorParameters<typeof BackendError>[1] {
  const words = `${report.labels.join(" ")} ${report.message.slice(0, 10_000)}`;
  const quirk = QUIRKS.find((row) => row.statuses.includes(status) && row.pattern.test(words));
  const kind = quirk?.kind ?? STATUS_KIND[status] ??
    (status >= 500 ? "server" : status >= 400 ? "request" : "protocol");
  const serverMessage = excerpt(report.message);
  return {
    kind,
    retryable: quirk ? quirk.retryable === true : RETRYABLE.includes(status),
    serverMessage,
    words: redactedLine(report.message),
    ...(kind === "context_too_long" &&
      { contextTokens: contextTokens(report.message, report.tokens) }),
  };
}

/** The words before a number of tokens that is the model's window. */
const WINDOW_WORDS =
  /(?:>=?|<=|context (?:size|length|window|limit|of)|n_ctx|max(?:imum)? [a-z_/ ]*(?:length|tokens)(?: allowed)?|max(?:imum)?_(?:num_tokens|seq_len|model_len|input_length)|model token limit|maximum number of(?: input)? tokens(?: allowed)?|max length|greater than|less than|limit(?: is|:| of)?|only|range of input length should be \[1,)[^\d+]{0,30}?(\d{3,8})\b(?! \+| tokens? exceed)/i;
/** The words around a number of tokens that is the request's length, the most reliable first. */
const PROMPT_WORDS = [
  /\((\d+) in the (?:messages|prompt)|(\d+) (?:of text input|(?:input |prompt )tokens|`inputs`)|limit: (\d+) \+/i,
  /request \((\d+) tokens|too long[: (]+(\d+)|token count (?:of )?\(?(\d+)|contains (?:at least )?(\d+)|resulted in (\d+)|first (\d+) tokens/i,
  /requested tokens \((\d+)|(?:tokens|prompt|length|n_tokens)[ (=:]+(\d{2,})\b(?!\D{0,9}\[)|(\d{4,8}) tokens/i,
];
/** A smaller number of tokens is not a window. */
const MIN_NAMED_WINDOW = 256;

function contextTokens(message: string, tokens: ContextTokens = {}): ContextTokens {
  // "131,072"; LM Studio's tokens to keep, which are not a window; MiniMax's code for any invalid request.
  const text = message.slice(0, 10_000).replace(/(?<=\b\d{1,3})[,_](?=\d{3}\b)/g, "")
    .replace(/n_keep\W{1,3}\d+|\(2013\)/g, "")
    .replace(/(\d+) maximum context length/, "maximum context length $1");
  const written = Number(WINDOW_WORDS.exec(text)?.[1]);
  const window = [tokens.window ?? NaN, written].find((count) => count >= MIN_NAMED_WINDOW);
  const counts = PROMPT_WORDS.flatMap((words) => words.exec(text)?.slice(1) ?? []);
  const prompt = counts.map(Number).find((count) => count > 0 && count !== window);
  return { prompt: tokens.prompt ?? prompt, window };
}

/** Reads an error in any shape, including nested ones. */
function readReport(value: unknown, depth = 0): ServerReport {
  if (depth > 8) return { message: "", labels: [] };
  if (Array.isArray(value)) return readReport(value[0], depth + 1);
  if (isObject(value)) return readReportObject(value, depth);
  const message = String(value ?? "");
  // Ollama passes on the JSON of llama.cpp as text.
  const inner = message.startsWith("{") ? jsonOrUndefined(message) : undefined;
  return isObject(inner) ? readReport(inner, depth + 1) : { message, labels: [] };
}

function readReportObject(value: Record<string, unknown>, depth: number): ServerReport {
  const { error, errors, detail, details, message, msg, loc, metadata } = value;
  // In order: Anthropic, OpenAI, Ollama; a list of them; FastAPI; vLLM, and an item of FastAPI's list.
  const inner = [error, errors, message, detail, msg].find((part) => part != null && part !== "");
  const report = readReport(inner, depth + 1);
  // Spring and others: `error` is a title, and `message` has the details.
  if (typeof error === "string" && typeof message === "string") report.message += `: ${message}`;
  if (Array.isArray(loc)) report.message = `${loc.join(".")}: ${report.message}`;
  // OpenRouter says "Provider returned error", and has the provider's own error here.
  if (isObject(metadata) && typeof metadata.raw === "string") {
    report.message += `: ${readReport(metadata.raw, depth + 1).message}`;
  }
  const own = [value.type, value.code, isObject(details) ? details.error_code : undefined]
    .filter((label) => label != null).map(String);
  if (report.message === "") report.message = own.join(" ") || JSON.stringify(value);
  // An older llama.cpp gives the length of a long request only in fields.
  const { n_prompt_tokens: prompt, n_ctx: window } = value;
  if (typeof prompt === "number" && typeof window === "number") {
    report.tokens = { prompt, window };
    if (!report.message.includes(String(prompt))) {
      report.message += ` (${prompt} tokens, of ${window})`;
    }
  }
  const labels = [...report.labels, ...own];
  return { ...report, labels, status: report.status ?? statusOf(own) };
}

function statusOf(labels: string[]): number | undefined {
  const number = labels.map(Number).find((code) => code >= 400 && code < 600);
  if (number !== undefined) return number;
  return TYPE_STATUS.find(([type]) => labels.some((label) => type.test(label)))?.[1];
}

function redirectTarget(status: number, headers: Headers, url: string): string | undefined {
  const location = headers.get("location");
  if (status > 399 || location === null) return undefined;
  const target = URL.parse(location, url);
  return excerpt(target ? `${target.protocol}//${target.host}${target.pathname}` : location);
}

/** Returns the text of a body: the title of HTML, or everything but its markup. */
function pageText(body: string): string {
  const head = body.slice(0, 5_000);
  if (!/^\s*<(!doctype|html|\?xml|head|body)/i.test(head)) return head;
  const title = /<title[^>]*>([^<]*)/i.exec(head)?.[1]?.trim();
  return title || head.replace(/<(script|style)[^]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
}
