import { assertEquals } from "@std/assert";
import { SseDecoder, type SseEvent } from "../../src/wire/sse.ts";
import { forEverySplit, randomPieces, randomTexts, seeded } from "../helpers/split.ts";

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
    forEverySplit(
      new TextEncoder().encode(stream),
      (pieces) => assertEquals(decode(pieces), events),
    );
  }
});

Deno.test("NET-01 NET-02 SseDecoder reads any bytes in any pieces as the standard, read plainly, does", () => {
  // deno-fmt-ignore
  const parts = [
    "data", "event", "id", ":", ": ", " ", "a", "é", "😀", "\0", "\u{feff}", "\n", "\r", "\r\n", "\n\n",
    "data: x", "event: y", "data:",
  ];
  const random = seeded(4);
  for (const text of randomTexts(parts, 4000)) {
    const bytes = new TextEncoder().encode(text);
    if (random() < 0.3) bytes[Math.floor(random() * bytes.length)] = 256 * random();
    const expected = plainly(new TextDecoder().decode(bytes));
    assertEquals(decode([bytes]), expected, JSON.stringify(text));
    assertEquals(decode(randomPieces(bytes, random)), expected, JSON.stringify(text));
  }
});

function plainly(stream: string): SseEvent[] {
  const events: SseEvent[] = [];
  let event = "";
  let data: string[] = [];
  const lines = stream.split(/\r\n|\r|\n/);
  const end = (cut: object): void => {
    if (data.length > 0) events.push({ event: event || "message", data: data.join("\n"), ...cut });
    [event, data] = ["", []];
  };
  // After the last line end there is no line, unless it has text.
  for (const line of lines.at(-1) === "" ? lines.slice(0, -1) : lines) {
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (line === "") end({});
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  end({ cut: true });
  return events;
}
