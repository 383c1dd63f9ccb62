/** Messages of JSON-RPC 2.0 (https://www.jsonrpc.org/specification). @module */

/** The id of a request, unique among the open requests of its sender. */
export type RpcId = string | number;

export type RpcParams = Readonly<Record<string, unknown>>;

interface RpcRequest {
  jsonrpc: "2.0";
  id: RpcId;
  method: string;
  params?: RpcParams;
}

interface RpcNotification {
  jsonrpc: "2.0";
  method: string;
  params?: RpcParams;
}

/** The answer to a request. `id` is null only if an error belongs to no readable request. */
type RpcResponse =
  | { jsonrpc: "2.0"; id: RpcId; result: unknown }
  | { jsonrpc: "2.0"; id: RpcId | null; error: RpcErrorBody };

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

interface RpcErrorBody {
  code: number;
  message: string;
  data?: unknown;
}

export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** An error that the other side answered, or that a handler answers with. */
export class RpcError extends Error {
  override readonly name = "RpcError";

  /** If `data` is undefined, an answer omits it. */
  constructor(readonly code: number, message: string, readonly data?: unknown) {
    super(message);
  }
}

/** The error of a request whose parameters make no sense. */
export const invalidParams = (why: string): RpcError => new RpcError(RPC_CODES.invalidParams, why);
