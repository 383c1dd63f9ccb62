/** A peer over two byte streams: one JSON message per line, as on stdio. @module */

import { BackendError } from "../errors.ts";
import { LineDecoder } from "../wire/lines.ts";
import type { RpcMessage } from "./message.ts";
import { RpcPeer, type RpcPeerOptions } from "./peer.ts";

/** The maximum length of a message, in characters. Long ones contain an image of a few MiB. */
export const MAX_RPC_CHARS = 16 * 2 ** 20;
/** The maximum number of characters that wait for the other side to read: one that only sends requests fills no memory. */
export const MAX_WAITING_CHARS = 64 * 2 ** 20;

const ENDED = "the other side closed the connection";

export interface LinePeerOptions extends Omit<RpcPeerOptions, "send"> {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
}

/** Connects a peer to two streams. It closes, and releases them, at the end of `input`, on errors and overlong lines. */
export function linePeer({ input, output, ...options }: LinePeerOptions): RpcPeer {
  const writer = output.getWriter();
  const encoder = new TextEncoder();
  let waiting = 0;
  const peer = new RpcPeer({
    ...options,
    async send(message: RpcMessage) {
      const line = `${JSON.stringify(message)}\n`;
      if (waiting + line.length > MAX_WAITING_CHARS) {
        throw new Error("the other side does not read its input");
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
  // A failing stream also rejects this promise, which has no other handler.
  writer.closed.catch(() => {});
  const lines = new LineDecoder((line) => {
    if (line.trim() !== "") peer.receive(line);
  }, { maxChars: MAX_RPC_CHARS });
  const reader = new WritableStream<Uint8Array>({
    write: (chunk) => lines.push(chunk),
    close: () => lines.end(),
  });
  const over = new AbortController();
  input.pipeTo(reader, { signal: over.signal }).then(
    () => peer.close(new Error(ENDED)),
    (error) => {
      const isLong = error instanceof BackendError;
      peer.close(isLong ? new Error(`a message of over ${MAX_RPC_CHARS} characters`) : error);
    },
  );
  peer.closed.then(async () => {
    over.abort();
    await writer.close().catch(() => {});
  });
  return peer;
}
