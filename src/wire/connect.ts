/** Servers that cannot be reached: the errors that `fetch` throws, and the connection limit that it lacks. @module */

import { BackendError, type BackendErrorKind } from "../errors.ts";
import { bareHost, hostKind } from "./address.ts";
import { excerpt } from "./excerpt.ts";
import { onceAfter } from "./wait.ts";

/** The delay before the probe, in milliseconds. An earlier answer shows that the connection works. */
const PROBE_AFTER_MS = 1_000;
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
const NO_PROXY = "NO_PROXY";

/**
 * Calls `onLate` if no connection to a server is made within `timeoutMs`. `fetch` cannot tell this from a slow
 * answer, so {@linkcode connectTimesOut} tests it after a moment. Returns a function that stops the test and
 * resolves once it has stopped. If the answer starts before the test, nothing is aborted: the first event of a
 * program loads 2 ms of code.
 */
export function watchConnection(
  url: string,
  timeoutMs: number,
  onLate: () => void,
): () => Promise<void> {
  const before = Math.min(PROBE_AFTER_MS, timeoutMs / 2);
  const over = new AbortController();
  let probing: Promise<void> | undefined;
  const cancel = onceAfter(before, () => {
    probing = connectTimesOut(url, timeoutMs - before, over.signal)
      .then((isLate) => isLate ? onLate() : undefined);
  });
  return async () => {
    cancel();
    if (probing) over.abort("over");
    await probing;
  };
}

/**
 * Makes a connection, with TLS for `https:`, and closes it. Resolves to `true` if that takes longer than `ms`; to
 * `false` if it succeeds, if it is refused (the request reports that better), if requests may use a proxy, and
 * when `signal` is aborted.
 */
export async function connectTimesOut(
  url: string,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isNear(url) && mayUseProxy()) return false;
  const late = AbortSignal.timeout(ms);
  const limit = AbortSignal.any([signal, late]);
  const { port } = endpoint(url);
  const hostname = bareHost(endpoint(url).hostname);
  try {
    using connection = await Deno.connect({ hostname, port, signal: limit });
    if (url.startsWith("https:")) await shakeHands(connection, hostname, limit);
    return false;
  } catch {
    return late.aborted && !signal.aborted;
  }
}

/** Starts TLS on a connection. @throws {Error} if that fails, or when `signal` is aborted. */
async function shakeHands(connection: Deno.TcpConn, hostname: string, signal: AbortSignal) {
  using secure = await Deno.startTls(connection, { hostname });
  const close = () => secure.close();
  signal.addEventListener("abort", close);
  await secure.handshake().finally(() => signal.removeEventListener("abort", close));
}

export function isLoopback(url: string): boolean {
  return /^(localhost|(127|0)(\.\d+){3}|\[::1?\])$/.test(new URL(url).hostname);
}

/** True for an address of this machine or of a private network, which a proxy cannot reach. */
export function isNear(url: string): boolean {
  return isLoopback(url) || hostKind(new URL(url).hostname) === "private";
}

const directClients = new Map<string, Deno.HttpClient>();

/** Returns a client without the environment's proxy, for which a nearby address is another machine. */
export function directClient(url: string): Deno.HttpClient | undefined {
  if (!isNear(url) || !mayUseProxy()) return undefined;
  const { hostname, port } = endpoint(url);
  const key = `${hostname}:${port}`;
  const client = directClients.get(key) ?? clientWithoutProxy(hostname);
  directClients.set(key, client);
  return client;
}

/** A client reads the variables when it is created. Commands must not inherit the change. */
function clientWithoutProxy(hostname: string): Deno.HttpClient {
  const before = Deno.env.get(NO_PROXY);
  Deno.env.set(NO_PROXY, bareHost(hostname));
  try {
    return Deno.createHttpClient({});
  } finally {
    if (before === undefined) Deno.env.delete(NO_PROXY);
    else Deno.env.set(NO_PROXY, before);
  }
}

function endpoint(url: string): { hostname: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}

const spellings = (names: string[]) => names.flatMap((name) => [name, name.toLowerCase()]);
const PROXY_VARIABLES = spellings(PROXIES);
const mayUseProxy = (): boolean => PROXY_VARIABLES.some((name) => Deno.env.get(name));

/** Returns the environment variable that sets a proxy for `url`, if any. */
function proxyVariable(url: string): string | undefined {
  if (isNear(url)) return undefined;
  const own = url.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY";
  return spellings([own, "ALL_PROXY"]).find((name) => Deno.env.get(name));
}

/** The failures of Deno's `fetch` and of Node's client by message. The first match applies. */
const CAUSES: readonly [
  pattern: RegExp,
  says: string,
  retryable: boolean,
  kind?: BackendErrorKind,
][] = [
  [
    /connection refused|actively refused|ECONNREFUSED/i,
    "nothing listens there (connection refused)",
    true,
  ],
  [/temporary failure in name resolution/i, "DNS lookup failed", true],
  [/dns error|lookup address/i, "no host has that name", false],
  [/InvalidContentType/, "it does not speak TLS (is it http:// rather than https://?)", false],
  [
    /UnknownIssuer/,
    "its certificate is not trusted: DENO_CERT can name a file with the one that signed it",
    false,
  ],
  [
    /CaUsedAsEndEntity/,
    "its certificate may only sign others (CA:TRUE): make one with CA:FALSE",
    false,
  ],
  [/certificate/i, "its certificate is not trusted", false],
  [
    /invalid HTTP|head is too large|parsed|Parse Error/,
    "it does not answer in HTTP",
    false,
    "protocol",
  ],
  [
    /closed before message|reset by peer|broken pipe|socket hang up|ECONNRESET|^aborted$/i,
    "it closed the connection without an answer",
    true,
  ],
];

/** Returns the error for a request whose `fetch` threw `thrown`. `mayUseProxies`: it may have used a proxy. */
export function failureFromThrown(
  thrown: unknown,
  url: string,
  mayUseProxies = true,
): BackendError {
  const { origin } = new URL(url);
  const text = causeText(thrown);
  // Only network errors have a cause. Others concern the request, or a blocked port.
  const hasCause = thrown instanceof Error && thrown.cause !== undefined;
  const [, says = excerpt(text), retryable = hasCause, kind = "connection"] =
    CAUSES.find(([pattern]) => pattern.test(text)) ?? [];
  // The unreachable host may be the proxy; the cause does not say.
  const proxy = mayUseProxies ? proxyVariable(url) : undefined;
  const through = proxy === undefined ? "" : ` (${proxy} names a proxy)`;
  const message = `Cannot reach ${origin}${through}: ${says}`;
  return new BackendError(message, { kind, retryable, cause: thrown });
}

/** True for the error that `fetch` throws if nothing listens on the port. */
export function isRefused(thrown: unknown): boolean {
  return CAUSES[0]![0].test(causeText(thrown));
}

/** Returns the reason in an error of `fetch`. Deno writes it into the cause, after the URL. */
function causeText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const text = thrown.cause instanceof Error ? thrown.cause.message : thrown.message;
  return text.slice(text.lastIndexOf("): ") + 1).replace(/^: /, "");
}
