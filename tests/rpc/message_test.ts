import { assertEquals } from "@std/assert/equals";
import { readMessage } from "../../src/rpc/message.ts";

const rpc = (fields: Record<string, unknown>) => ({ jsonrpc: "2.0", ...fields });

Deno.test("message: each kind, and what is none with its reason", () => {
  const rows: [given: unknown, kind: string, rest: Record<string, unknown>][] = [
    [rpc({ id: 1, method: "a" }), "request", { id: 1, method: "a", params: {} }],
    [rpc({ id: "x", method: "a", params: { b: 1 } }), "request", { id: "x", params: { b: 1 } }],
    [rpc({ method: "a" }), "notification", { method: "a", params: {} }],
    [rpc({ id: 0, result: null }), "result", { id: 0, result: null }],
    [rpc({ id: null, error: { code: -1, message: "m" } }), "error", { id: null }],
    [{ id: 1, method: "a" }, "invalid", { id: 1, reason: 'jsonrpc must be "2.0"' }],
    [rpc({ id: null, method: "a" }), "invalid", { reason: "id must be a string or a number" }],
    [rpc({ id: 1, method: 5 }), "invalid", { id: 1, reason: "method must be a string" }],
    [rpc({ id: 1, method: "a", params: [1] }), "invalid", { reason: "params must be an object" }],
    [rpc({ id: {}, result: 1 }), "invalid", { id: null }],
    [rpc({ id: 1 }), "invalid", { reason: "it has no method, result or error" }],
    ["text", "invalid", { reason: "a message must be a JSON object" }],
    [null, "invalid", { id: null }],
  ];
  for (const [given, kind, rest] of rows) {
    const read = readMessage(given) as Record<string, unknown>;
    const seen = Object.fromEntries(Object.keys(rest).map((key) => [key, read[key]]));
    assertEquals({ kind: read.kind, ...seen }, { kind, ...rest }, JSON.stringify(given));
  }
});

Deno.test("message: an error without a code or a message has ours", () => {
  const read = readMessage(rpc({ id: 1, error: { data: 7 } }));
  if (read.kind !== "error") throw new Error(read.kind);
  const { code, message, data } = read.error;
  assertEquals([code, message, data], [-32603, "an error without a message", 7]);
});
