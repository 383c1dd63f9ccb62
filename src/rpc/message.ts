/** Messages of JSON-RPC 2.0 (https://www.jsonrpc.org/specification). @module */

import { isObject } from "../text/json.ts";

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

type ReadMessage =
  | { kind: "request"; id: RpcId; method: string; params: RpcParams }
  | { kind: "notification"; method: string; params: RpcParams }
  | { kind: "result"; id: RpcId; result: unknown }
  | { kind: "error"; id: RpcId | null; error: RpcError }
  | { kind: "invalid"; id: RpcId | null; reason: string };

/** Reads a parsed value as a message. Never throws. */
export function readMessage(value: unknown): ReadMessage {
  const invalid = (reason: string, id: RpcId | null = null): ReadMessage => {
    return { kind: "invalid", id, reason };
  };
  if (!isObject(value)) return invalid("a message must be a JSON object");
  const id = isRpcId(value.id) ? value.id : null;
  if (value.jsonrpc !== "2.0") return invalid('jsonrpc must be "2.0"', id);
  const { method, params = {} } = value;
  if (typeof method === "string") {
    if (!isObject(params)) return invalid("params must be an object", id);
    if (!Object.hasOwn(value, "id")) return { kind: "notification", method, params };
    return id === null
      ? invalid("id must be a string or a number")
      : { kind: "request", id, method, params };
  }
  if (method !== undefined) return invalid("method must be a string", id);
  if (isObject(value.error)) return { kind: "error", id, error: errorOf(value.error) };
  if (!Object.hasOwn(value, "result")) return invalid("it has no method, result or error", id);
  return id === null
    ? invalid("the id of a result must be a string or a number")
    : { kind: "result", id, result: value.result };
}

function errorOf({ code, message, data }: Record<string, unknown>): RpcError {
  return new RpcError(
    typeof code === "number" ? code : RPC_CODES.internalError,
    typeof message === "string" && message !== "" ? message : "an error without a message",
    data,
  );
}

function isRpcId(value: unknown): value is RpcId {
  return typeof value === "string" || Number.isFinite(value);
}
