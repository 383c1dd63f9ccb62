/**
 * `copilot serve`: the sessions of `copilot acp` for clients that connect to this machine: one WebSocket each, as in the
 * protocol's "Streamable HTTP & WebSocket Transport", and a page for browsers.
 *
 * @module
 */

import { attempt } from "../../attempt.ts";
import { MAX_RPC_CHARS, MAX_WAITING_CHARS } from "../../rpc/line_peer.ts";
import { digestOf } from "../../text/digest.ts";
import { RpcPeer, type RpcPeerOptions } from "../../rpc/peer.ts";
import page from "./page.html" with { type: "text" };

const SERVE_ADDRESS = "127.0.0.1";
const TOKEN_BYTES = 16;
const MAX_CONNECTIONS = 16;

interface ServeOptions {
  /** 0 for a free one. */
  port: number;
  /** Names of tunnels, in addition to those of this machine, under which browsers may reach the server. */
  names: readonly string[];
  /** Serves one client until it disconnects. */
  serve(connect: (options: Omit<RpcPeerOptions, "send">) => RpcPeer): Promise<void>;
  /** Called once the server listens. */
  onListen(address: { url: string; token: string }): void;
  signal: AbortSignal;
}

/** Serves until `signal` is aborted. @throws {Deno.errors.AddrInUse} */
export async function serveClients(options: ServeOptions): Promise<void> {
  const { port, signal, names } = options;
  const token = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).toHex();
  const hosts = new Set<string>(names);
  const pageHeaders = await headersOfPage();
  const connections = new Set<Promise<void>>();
  const answer = async (request: Request): Promise<Response> => {
    const refusal = refused(request, hosts);
    if (refusal !== undefined) return refusalOf(403, refusal);
    const { pathname } = new URL(request.url);
    if (pathname === "/" && request.method === "GET") {
      return new Response(page, { headers: pageHeaders });
    }
    if (pathname !== "/acp") return refusalOf(404, "Not found: this server has only / and /acp.");
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return refusalOf(426, "This address takes WebSockets only.", { upgrade: "websocket" });
    }
    if (!await hasToken(request, token)) return refusalOf(401, "The token is missing or wrong.");
    if (connections.size >= MAX_CONNECTIONS) {
      return refusalOf(503, "There are too many connections.");
    }
    // Deno finds a protocol only in a list with spaces, which the library ws does not send.
    const named = request.headers.get("sec-websocket-protocol")?.split(/ *, */);
    const isKnown = named?.includes("acp") ?? true;
    const upgraded = isKnown ? attempt(() => Deno.upgradeWebSocket(request)) : undefined;
    if (upgraded === undefined) return refusalOf(400, "This is not a valid WebSocket request.");
    const { socket, response } = upgraded;
    response.headers.set("acp-connection-id", crypto.randomUUID());
    if (named) response.headers.set("sec-websocket-protocol", "acp");
    const connection = options.serve((more) => socketPeer(socket, more))
      .finally(() => connections.delete(connection));
    connections.add(connection);
    return response;
  };
  const onListen = ({ port }: Deno.NetAddr) => {
    const end = port === 80 ? "" : `:${port}`; // as browsers write it
    for (const name of [SERVE_ADDRESS, "localhost", ...names]) hosts.add(`${name}${end}`);
    options.onListen({ url: `http://${SERVE_ADDRESS}:${port}`, token });
  };
  await Deno.serve({ hostname: SERVE_ADDRESS, port, signal, onListen }, answer).finished;
  await Promise.all(connections);
}

/**
 * Returns why a request is refused: DNS rebinding, for a host that is not in `hosts`, or a WebSocket of another site's
 * page, whose origin browsers send.
 */
function refused({ headers }: Request, hosts: ReadonlySet<string>): string | undefined {
  const host = headers.get("host")?.toLowerCase() ?? "";
  if (!hosts.has(host)) {
    return `The host ${host} is not known. For a tunnel, start copilot serve with --allow-host ${host}`;
  }
  const origin = headers.get("origin")?.toLowerCase();
  const isOwn = origin === undefined || [`http://${host}`, `https://${host}`].includes(origin);
  return isOwn ? undefined : "Pages of other origins may not connect.";
}

/** True if the request has the token: as a bearer token or, in browsers, which cannot add one, as a subprotocol. */
async function hasToken({ headers }: Request, token: string): Promise<boolean> {
  const given = headers.get("authorization")?.replace(/^Bearer /i, "") ??
    headers.get("sec-websocket-protocol")?.match(/(?:^|,) *token\.([0-9a-f]+) *(?:,|$)/)?.[1] ?? "";
  // Digests are compared, so that the time tells nothing about the token.
  return await digestOf(given) === await digestOf(token);
}

/** Connects a peer to a WebSocket: one message per text frame. Binary frames are ignored. */
function socketPeer(socket: WebSocket, options: Omit<RpcPeerOptions, "send">): RpcPeer {
  const peer = new RpcPeer({
    ...options,
    // deno-lint-ignore require-await
    async send(message) {
      if (socket.readyState !== WebSocket.OPEN) throw new Error("the client has left");
      if (socket.bufferedAmount > MAX_WAITING_CHARS) throw new Error("the client does not read");
      socket.send(JSON.stringify(message));
    },
  });
  socket.onmessage = ({ data }) => {
    if (typeof data !== "string") return;
    if (data.length > MAX_RPC_CHARS) socket.close(1009, "too long");
    else peer.receive(data);
  };
  socket.onclose = socket.onerror = () => peer.close(new Error("the client has left"));
  peer.closed.then(() => socket.close());
  return peer;
}

/** The page runs its own script alone, reaches this server alone, and is in no frame. */
async function headersOfPage(): Promise<HeadersInit> {
  const script = page.slice(page.indexOf("<script>") + 8, page.lastIndexOf("</script>"));
  const digest = Uint8Array.fromHex(await digestOf(script));
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${digest.toBase64()}'`,
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}

const refusalOf = (status: number, text: string, headers: HeadersInit = {}): Response =>
  new Response(`${text}\n`, { status, headers });
