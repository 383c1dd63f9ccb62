/** What carries the messages of a client to its server and back. @module */

import type { RpcPeer, RpcPeerOptions } from "../rpc/peer.ts";

/** The handlers of a client, which a carrier makes its peer with. */
export type CarrierHandlers = Pick<
  RpcPeerOptions,
  "onRequest" | "onNotification" | "onIgnored" | "cancellation"
>;

/** A connection to a server: a program, or an address. */
export interface Carrier {
  peer: RpcPeer;
  /** Called once it is known which revision is spoken: over HTTP each request names it. */
  speaks(version: string): void;
  /** The last words of the server on stderr, for an error; empty for none. */
  lastWords(): string;
  /** Ends the connection, and the program with all that it started. */
  end(): Promise<void>;
}
