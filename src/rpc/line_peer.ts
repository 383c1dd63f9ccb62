/** A peer over two streams of bytes: one JSON message a line, as on the stdio of MCP and ACP. @module */

import { BackendError } from "../errors.ts";
import { LineDecoder } from "../wire/lines.ts";
import { within } from "../wire/wait.ts";
import type { RpcMessage } from "./message.ts";
import { RpcPeer, type RpcPeerOptions } from "./peer.ts";

/** The most characters of one line, by default. The longest real ones hold an image of some MiB. */
const MAX_LINE_CHARS = 16 * 2 ** 20;
/** The most characters that wait to be written while the other side reads nothing. */
const MAX_WAITING_CHARS = 64 * 2 ** 20;

/** The longest that the last message of a connection waits to be taken, in milliseconds. */
const FLUSH_MS = 500;

const ENDED = "the other side closed the connection";

export interface LinePeerOptions extends Omit<RpcPeerOptions, "send"> {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
  /** The most characters of a line; a longer one ends the connection. By default 16 Mi. */
  maxLineChars?: number;
}

/**
 * Connects a peer to two streams. It is closed when `input` ends, when either stream fails, and on a
 * line that is too long; closing it lets go of both.
 */
export function linePeer({ input, output, maxLineChars, ...options }: LinePeerOptions): RpcPeer {
  const writer = output.getWriter();
  const encoder = new TextEncoder();
  let waiting = 0;
  const peer = new RpcPeer({
    ...options,
    async send(message: RpcMessage) {
      const line = `${JSON.stringify(message)}\n`;
      if (waiting + line.length > MAX_WAITING_CHARS) {
        throw new Error("the other side does not read what it is sent");
      }
      waiting += line.length;
      try {
        await writer.write(encoder.encode(line));
      } catch (error) {
        peer.close(new Error(ENDED, { cause: error }));
        throw await peer.closed;
      } finally {
        waiting -= line.length;
      }
    },
  });
  // A stream that fails also rejects this one, which nobody else takes.
  writer.closed.catch(() => {});
  const reader = input.getReader();
  const flushed = () => within(FLUSH_MS, writer.write(new Uint8Array()).catch(() => {}));
  readLines(reader, peer, maxLineChars ?? MAX_LINE_CHARS, flushed);
  peer.closed.then(async () => {
    await reader.cancel().catch(() => {});
    await writer.close().catch(() => {});
  });
  return peer;
}

async function readLines(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  peer: RpcPeer,
  maxChars: number,
  flushed: () => Promise<unknown>,
): Promise<void> {
  const lines = new LineDecoder((line) => {
    if (line.trim() !== "") peer.receiveText(line);
  }, { maxChars });
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      lines.push(value);
      if (peer.isClosed) return;
    }
    lines.end();
    peer.close(new Error(ENDED));
  } catch (error) {
    const isLong = error instanceof BackendError;
    if (!isLong) return peer.close(error as Error);
    const reason = `a message of over ${maxChars} characters`;
    peer.refuse(reason);
    // Whoever waits for the close may end the program with it.
    await flushed();
    peer.close(new Error(reason));
  }
}
