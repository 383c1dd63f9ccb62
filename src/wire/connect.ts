/** Servers that can not be reached: the errors that `fetch` throws then, and its missing limit. @module */

import { BackendError, type BackendErrorKind } from "../errors.ts";
import { bareHost, hostKind } from "./address.ts";
import { excerpt } from "./excerpt.ts";
import { onceAfter } from "./wait.ts";

/** A probe begins after this time; an answer that begins before shows that the connection stands. */
const PROBE_AFTER_MS = 1_000;
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
const NO_PROXY = "NO_PROXY";

/**
 * Calls `onLate` when there is no connection to a server within `timeoutMs`, which `fetch` does not tell
 * from a server that takes its time to answer: after a moment {@linkcode connectTimesOut} looks. Returns a
 * function that ends this, and resolves when it has ended. Aborts nothing where the answer begins before:
 * the first event of a program loads 2 ms of code.
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
 * Makes a connection, with TLS for `https:`, and closes it at once. Resolves to `true` when there is none
 * within `ms`; to `false` when there is one, when it is refused (the request reports that better), when requests may go through
 * a proxy, and at the end of `signal`.
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

/** Begins TLS on a connection. @throws {Error} where that fails, and at the end of `signal`. */
async function shakeHands(connection: Deno.TcpConn, hostname: string, signal: AbortSignal) {
  using secure = await Deno.startTls(connection, { hostname });
  const close = () => secure.close();
  signal.addEventListener("abort", close);
  await secure.handshake().finally(() => signal.removeEventListener("abort", close));
}

/** True for an address of this machine. */
export function isLoopback(url: string): boolean {
  return /^(localhost|(127|0)(\.\d+){3}|\[::1?\])$/.test(new URL(url).hostname);
}

/** True for an address of this machine or of a private network, where no proxy leads. */
export function isNear(url: string): boolean {
  return isLoopback(url) || hostKind(new URL(url).hostname) === "private";
}

const directClients = new Map<string, Deno.HttpClient>();

/**
 * Returns the client for a server nearby where `fetch` would ask a proxy of the environment, which
 * reaches another machine at that address; `undefined` where `fetch` needs none.
 */
export function directClient(url: string): Deno.HttpClient | undefined {
  if (!isNear(url) || !mayUseProxy()) return undefined;
  const { hostname, port } = endpoint(url);
  const key = `${hostname}:${port}`;
  const client = directClients.get(key) ?? clientWithoutProxy(hostname, port);
  directClients.set(key, client);
  return client;
}

/** A client reads the variables when it is made: commands must not inherit the change. */
function clientWithoutProxy(hostname: string, port: number): Deno.HttpClient {
  // This sends the absolute form of the address, which some servers answer with 404.
  if (!isReadable(NO_PROXY)) {
    return Deno.createHttpClient({ proxy: { transport: "tcp", hostname, port } });
  }
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

/** True when requests may go through a proxy; also when reading the variables takes a permission. */
function mayUseProxy(): boolean {
  const readsAll = isReadable();
  return PROXY_VARIABLES.some((name) => !(readsAll || isReadable(name)) || Deno.env.get(name));
}

const spellings = (names: string[]) => names.flatMap((name) => [name, name.toLowerCase()]);
const PROXY_VARIABLES = spellings(PROXIES);

/** True where the variable, or each one without a name, may be read without a question. */
function isReadable(variable?: string): boolean {
  const asked = { name: "env", ...(variable !== undefined && { variable }) } as const;
  return Deno.permissions.querySync(asked).state === "granted";
}

/** The environment variable that names a proxy for `url`, if there is one. */
function proxyVariable(url: string): string | undefined {
  if (isNear(url)) return undefined;
  const own = url.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY";
  return spellings([own, "ALL_PROXY"]).find((name) => isReadable(name) && Deno.env.get(name));
}

/** The failures of Deno's `fetch`, by a pattern for its message; the first row that matches counts. */
const CAUSES: readonly [
  pattern: RegExp,
  says: string,
  retryable: boolean,
  kind?: BackendErrorKind,
][] = [
  [/connection refused|actively refused/i, "nothing listens there (connection refused)", true],
  [/temporary failure in name resolution/i, "its name cannot be looked up at the moment", true],
  [/dns error|lookup address/i, "there is no host of that name", false],
  [/InvalidContentType/, "it does not speak TLS (is it http:// rather than https://?)", false],
  [/certificate|UnknownIssuer/i, "its certificate is not trusted", false],
  [/invalid HTTP|head is too large|parsed/, "it does not answer in HTTP", false, "protocol"],
  [
    /closed before message|reset by peer|broken pipe/i,
    "it closed the connection without an answer",
    true,
  ],
];

/** The error for a request at which `fetch` threw `thrown`; `mayUseProxies`: it may have gone through a proxy. */
export function failureFromThrown(
  thrown: unknown,
  url: string,
  mayUseProxies = true,
): BackendError {
  const { origin, host } = new URL(url);
  if (thrown instanceof Deno.errors.NotCapable) {
    return new BackendError(
      `Cannot reach ${origin} as network access is not allowed: run with --allow-net=${host}`,
      { kind: "connection", cause: thrown },
    );
  }
  const text = causeText(thrown);
  // Only errors of the network have a cause: others are about the request, or a blocked port.
  const hasCause = thrown instanceof Error && thrown.cause !== undefined;
  const [, says = excerpt(text), retryable = hasCause, kind = "connection"] =
    CAUSES.find(([pattern]) => pattern.test(text)) ?? [];
  // The host that can not be reached may be the proxy: the cause does not tell.
  const proxy = mayUseProxies ? proxyVariable(url) : undefined;
  const through = proxy === undefined ? "" : ` (${proxy} names a proxy)`;
  const message = `Cannot reach ${origin}${through}: ${says}`;
  return new BackendError(message, { kind, retryable, cause: thrown });
}

/** True for the error that `fetch` throws when nothing listens on the port. */
export function isRefused(thrown: unknown): boolean {
  return CAUSES[0]![0].test(causeText(thrown));
}

/** The reason in an error that `fetch` threw: Deno writes it into the cause, after the URL. */
function causeText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const text = thrown.cause instanceof Error ? thrown.cause.message : thrown.message;
  return text.slice(text.lastIndexOf("): ") + 1).replace(/^: /, "");
}
