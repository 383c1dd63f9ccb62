/**
 * A scripted HTTP server on loopback that writes raw bytes, so that a test can cut, stall, reset and
 * lie at any byte. It never sleeps: a stall lasts until the client leaves or a test's promise resolves.
 *
 * ```ts ignore
 * await using server = serve(
 *   respond(503, {}, "busy"),                       // first request
 *   sse(['{"x":1}', "[DONE]"]),                     // second
 *   async (request, peer) => {                      // third and all later ones
 *     await peer.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: ping\n\n");
 *     await peer.left();                            // until the client closes the connection
 *   },
 * );
 * await fetch(server.url + "/v1/chat/completions");
 * assertEquals(server.requests[0].path, "/v1/chat/completions");
 * ```
 *
 * @module
 */

const encoder = new TextEncoder();

/** A request as it was received. */
export interface Received {
  method: string;
  /** Path and query. */
  path: string;
  headers: Headers;
  /** The head, byte for byte, as text. */
  head: string;
  body: Uint8Array;
  /** The body as text. */
  text: string;
  /** The body as JSON. */
  // deno-lint-ignore no-explicit-any
  json(): any;
}

/** The server's end of a connection. */
export interface Peer {
  /** Writes raw bytes, or text as UTF-8. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes the connection. If the request's body is unread, the client sees a reset. */
  close(): void;
  /** Waits until the client has closed the connection, and discards its data. */
  left(): Promise<void>;
}

/** Answers one request. Unless it calls `peer.close()`, the connection stays open for the next. */
export interface Handler {
  (request: Received, peer: Peer): void | Promise<void>;
  /** True to leave the request's body unread, so that closing the connection resets it. */
  unread?: boolean;
}

/** A running server. `await using` closes it, and throws the error that a handler threw. */
export interface Server extends AsyncDisposable {
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly port: number;
  /** All requests so far, in the order in which they arrived. */
  readonly requests: Received[];
  /** How many connections were accepted so far. */
  readonly connections: number;
}

/** Starts a server: handler N answers request N, the last one all later ones too. */
export function serve(...handlers: Handler[]): Server {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const requests: Received[] = [];
  const open = new Set<Deno.Conn>();
  const failures: unknown[] = [];
  let connections = 0;

  const next = () => handlers[Math.min(requests.length, handlers.length - 1)];
  async function accept(): Promise<void> {
    for await (const conn of listener) {
      connections++;
      // Small writes in a row would wait 40 ms for the client's delayed acknowledgement.
      conn.setNoDelay(true);
      open.add(conn);
      talk(conn).catch((error) => {
        if (!gone(error)) failures.push(error);
      }).finally(() => close(conn));
    }
  }
  async function talk(conn: Deno.Conn): Promise<void> {
    const input = new Input(conn);
    while (open.has(conn)) {
      const head = await input.head(next()?.unread ? 1 : 16_384);
      if (head === undefined) return;
      const handler = next();
      const request = parse(head);
      requests.push(request);
      const length = Number(request.headers.get("content-length") ?? 0);
      if (!handler?.unread) request.body = await input.take(length);
      await handler?.(request, {
        write: (data) => writeAll(conn, typeof data === "string" ? encoder.encode(data) : data),
        close: () => close(conn),
        left: () => input.left(),
      });
    }
  }
  function close(conn: Deno.Conn): void {
    if (open.delete(conn)) conn.close();
  }

  const accepting = accept();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      open.forEach(close);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Answers with a status, headers and a body, and keeps the connection open. */
export function respond(
  status: number,
  headers: Record<string, string> = {},
  body: string | Uint8Array = "",
): Handler {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const length = status === 204 || status === 304 ? {} : { "content-length": `${bytes.length}` };
  return async (_request, peer) => {
    await peer.write(head(status, { ...length, ...headers }));
    await peer.write(bytes);
  };
}

/** Answers with a JSON value. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Handler {
  return respond(status, { "content-type": "application/json", ...headers }, JSON.stringify(value));
}

/** Answers with an event stream, one event for each of `data`; objects are sent as JSON. */
export function sse(data: readonly unknown[], headers: Record<string, string> = {}): Handler {
  const body = data.map((d) => `data: ${typeof d === "string" ? d : JSON.stringify(d)}\n\n`);
  return respond(200, { "content-type": "text/event-stream", ...headers }, body.join(""));
}

/** Answers with one JSON value a line. */
export function ndjson(values: readonly unknown[], headers: Record<string, string> = {}): Handler {
  const body = values.map((value) => JSON.stringify(value) + "\n").join("");
  return respond(200, { "content-type": "application/x-ndjson", ...headers }, body);
}

/** Writes raw bytes (status line and headers included), then closes the connection. */
export function raw(...pieces: (string | Uint8Array)[]): Handler {
  return async (_request, peer) => {
    for (const piece of pieces) await peer.write(piece);
    peer.close();
  };
}

/** Writes raw bytes, then resets the connection (the request must have a body). */
export function reset(...pieces: (string | Uint8Array)[]): Handler {
  return Object.assign(raw(...pieces), { unread: true });
}

/** Writes raw bytes, then nothing until the client closes the connection; then calls `left`. */
export function stall(pieces: (string | Uint8Array)[] = [], left: () => void = () => {}): Handler {
  return async (_request, peer) => {
    for (const piece of pieces) await peer.write(piece);
    await peer.left();
    left();
    peer.close();
  };
}

/** A status line and headers, with the blank line after them. */
export function head(status: number, headers: Record<string, string> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

/** Reads what a client sends. */
class Input {
  #conn: Deno.Conn;
  /** Bytes that were read but not used. */
  #rest = new Uint8Array();
  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** The next request's head, or `undefined` when the client has closed the connection. Reads
   * `step` bytes at a time: 1 leaves all after the head unread in the system. */
  async head(step: number): Promise<string | undefined> {
    const buffer = new Uint8Array(step);
    let text = String.fromCharCode(...this.#rest);
    for (;;) {
      const end = text.indexOf("\r\n\r\n") + 4;
      if (end >= 4) {
        this.#rest = Uint8Array.from(text.slice(end), (char) => char.charCodeAt(0));
        return text.slice(0, end);
      }
      const got = await this.#conn.read(buffer);
      if (got === null) return undefined;
      text += String.fromCharCode(...buffer.subarray(0, got));
    }
  }

  async take(length: number): Promise<Uint8Array> {
    const body = new Uint8Array(length);
    let at = Math.min(length, this.#rest.length);
    body.set(this.#rest.subarray(0, at));
    this.#rest = this.#rest.slice(at);
    while (at < length) {
      const got = await this.#conn.read(body.subarray(at));
      if (got === null) return body.subarray(0, at);
      at += got;
    }
    return body;
  }

  async left(): Promise<void> {
    const scratch = new Uint8Array(65_536);
    try {
      while (await this.#conn.read(scratch) !== null);
    } catch (error) {
      if (!gone(error)) throw error;
    }
  }
}

function parse(head: string): Received {
  const [first = "", ...lines] = head.trimEnd().split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = new Headers(
    lines.map((
      line,
    ) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return {
    method,
    path,
    headers,
    head,
    body: new Uint8Array(),
    get text() {
      return new TextDecoder().decode(this.body);
    },
    json() {
      return JSON.parse(this.text);
    },
  };
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

/** True for the errors of a connection that the other side or the test's end has closed. */
function gone(error: unknown): boolean {
  const { BadResource, BrokenPipe, ConnectionReset, Interrupted } = Deno.errors;
  return [BadResource, BrokenPipe, ConnectionReset, Interrupted].some((e) => error instanceof e);
}
