import { assertEquals } from "@std/assert";
import { SseDecoder, type SseEvent } from "../../src/wire/sse.ts";
import { forEverySplit } from "../helpers/split.ts";

function decode(pieces: Uint8Array[]): SseEvent[] {
  const events: SseEvent[] = [];
  const decoder = new SseDecoder((event) => events.push(event));
  for (const piece of pieces) decoder.push(piece);
  decoder.end();
  return events;
}

const message = (data: string) => ({ event: "message", data });

Deno.test("NET-01 NET-02 SseDecoder follows the standard at every split", () => {
  const rows: [stream: string, events: SseEvent[]][] = [
    ["", []],
    ["data: a\n\n", [message("a")]],
    ["data: a\r\n\r\n", [message("a")]],
    ["data: a\r\r", [message("a")]],
    ["data: a\n\r\ndata: b\r\n\ndata: c\r\n\r", [message("a"), message("b"), message("c")]],
    ["\u{feff}data: a\n\n", [message("a")]],
    ["data:a\n\n", [message("a")]],
    ["data:  a \n\n", [message(" a ")]],
    ["data: a\ndata: b\ndata:\ndata\n\n", [message("a\nb\n\n")]],
    ["data:\n\n", [message("")]],
    ["data\n\n", [message("")]],
    ["event: ping\n\n", []],
    ["event: ping\n\ndata: a\n\n", [message("a")]],
    ["event:error\nid: 7\nretry: 10\ndata: a\nnonsense: x\n\n", [{ event: "error", data: "a" }]],
    ["event: a\nevent: b\ndata: x\n\ndata: y\n\n", [{ event: "b", data: "x" }, message("y")]],
    ["event: a\nevent:\ndata: x\n\n", [message("x")]],
    [": keep-alive\n\n:\n\ndata: a\n: between\ndata: b\n\n", [message("a\nb")]],
    [" data: a\n\nDATA: a\n\ndatax: a\n\n", []],
    ["\n\n\ndata: a\n\n\n\n", [message("a")]],
    ["data: a:b: c\n\n", [message("a:b: c")]],
    ['data: {"x":"\u2028\u2029\u0085"}\n\n', [message('{"x":"\u2028\u2029\u0085"}')]],
    ["data: 日本語 👩‍💻 e\u0301\n\n", [message("日本語 👩‍💻 e\u0301")]],
    // Ends without a blank line, within a line, and before any data.
    ["data: [DONE]\n", [{ ...message("[DONE]"), cut: true }]],
    ["data: [DONE]", [{ ...message("[DONE]"), cut: true }]],
    ['data: a\n\nevent: x\ndata: {"b', [message("a"), { event: "x", data: '{"b', cut: true }]],
    ["data: a\n\nevent: x\n", [message("a")]],
    ["data: a\n\ndat", [message("a")]],
  ];
  for (const [stream, events] of rows) {
    const bytes = new TextEncoder().encode(stream);
    forEverySplit(bytes, (pieces) => assertEquals(decode(pieces), events));
  }
});
