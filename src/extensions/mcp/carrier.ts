/** The transport between a client and its server. @module */

import type { RpcPeer, RpcPeerOptions } from "../../rpc/peer.ts";

export type CarrierHandlers = Pick<
  RpcPeerOptions,
  "onRequest" | "onNotification" | "onIgnored" | "cancellation"
>;

/** A connection to a server, which is a program or an address. */
export interface Carrier {
  peer: RpcPeer;
  /** Called when the protocol revision is known: over HTTP each request names it. */
  speaks?(version: string): void;
  /** The end of a program's stderr, for error messages; may be empty. */
  lastWords?(): string;
  /** Returns what the sandbox denied a program, and the setting that grants it, by the words of an error. */
  limitIn?(error: string): string | undefined;
  /** Closes the connection. Ends the program and all processes that it started. */
  end(): Promise<void>;
}
