import { assertEquals } from "@std/assert";
import { LiveOutput } from "../../../../src/ui/terminal/screen/live_output.ts";
import { styledRow } from "../../../../src/ui/terminal/styled.ts";
import { FakeTerminal } from "./fake_terminal.ts";

/** Output above the one row that `state` tells, on a terminal. */
function opened(state: { row: string; column?: number } = { row: "input" }, signal?: AbortSignal) {
  const terminal = new FakeTerminal();
  const failures: unknown[] = [];
  const layout = ({ columns }: { columns: number }) => ({
    rows: [styledRow(state.row, columns)],
    cursor: { row: 0, column: Math.min(state.column ?? 0, columns - 1) },
  });
  const output = new LiveOutput(terminal, layout, (error) => failures.push(error), signal);
  const written = (step: () => void): string => {
    terminal.output = "";
    step();
    return terminal.output;
  };
  return { terminal, output, failures, written, layout };
}

Deno.test("text is printed above the rows that change, in the order told", () => {
  const { terminal, output } = opened();
  output.draw();
  assertEquals(terminal.rows, ["input"]);
  output.stream("un");
  output.stream("finished");
  assertEquals(output.tail, "unfinished");
  output.print("a line");
  output.stream("one\ntwo");
  output.append("whole\n");
  output.stream(" three\n\nfour");
  assertEquals(output.tail, "four");
  assertEquals(terminal.rows, ["input"]);
  output.draw();
  assertEquals(terminal.rows, [
    ...["unfinished", "a line", "one", "whole", "two three", "", "input"],
  ]);
  output.stream("\n");
  assertEquals(output.tail, "");
  output.stream("five");
  output.print("last");
  assertEquals(output.end(), "four\nfive\nlast\n");
  assertEquals(terminal.rows.at(-1), "two three");
  assertEquals([opened().output.end()], [""]);
});

Deno.test("frames are 33 ms apart, the first after a pause is drawn at once", async () => {
  const { terminal, output, written } = opened();
  await terminal.wait(33);
  assertEquals(written(() => output.drawSoon()), "input\r");
  output.print("soon");
  assertEquals(written(() => output.drawSoon()), "");
  output.print("with it");
  assertEquals(written(() => output.drawSoon()), "");
  await terminal.until((rows) => rows.includes("with it"));
  await terminal.wait(32);
  output.print("later");
  assertEquals(written(() => output.drawSoon()), "");
  output.draw();
  await terminal.wait(33);
  output.print("at once");
  output.drawSoon();
  assertEquals(terminal.rows, ["soon", "with it", "later", "at once", "input"]);
  await terminal.wait(33);
  output.draw();
  output.print("it asked for");
  output.drawSoon();
  assertEquals(terminal.rows.slice(4), ["it asked for", "input"]);
});

Deno.test("nothing is drawn while another program has the terminal, nor at the end", () => {
  const abort = new AbortController();
  const { terminal, output, written } = opened({ row: "input" }, abort.signal);
  output.draw();
  output.pause();
  output.print("text");
  assertEquals(written(() => output.draw()), "");
  terminal.write("left by the other\r\n");
  output.resume();
  output.draw();
  assertEquals(terminal.rows, ["left by the other", "text", "input"]);
  output.clearScreen();
  assertEquals(terminal.rows, []);
  output.draw();
  assertEquals(terminal.rows, ["input"]);
  abort.abort();
  output.print("more");
  assertEquals(written(() => output.draw()), "");
  assertEquals(output.end(), "more\n");
});

Deno.test("a terminal that is gone is told of, not thrown", () => {
  const { terminal, output, failures } = opened();
  terminal.write = () => {
    throw new Error("gone");
  };
  output.draw();
  output.print("text");
  output.draw();
  assertEquals(failures.map(String), ["Error: gone", "Error: gone"]);
});

Deno.test("TTY-07 the rows are drawn anew on a terminal that has another size", () => {
  const { terminal, output, written, layout } = opened({ row: "an input line" });
  output.draw();
  const anew = "\r\x1b[Jan input line\r";
  for (const size of [{ columns: 41, rows: 12 }, { columns: 41, rows: 11 }]) {
    terminal.size = () => size;
    assertEquals(written(() => output.draw()), anew);
    assertEquals(written(() => output.draw()), "");
  }
  const commit = () => output.commit(layout);
  assertEquals(written(commit), "\r\n");
  output.draw();
  terminal.size = () => ({ columns: 39, rows: 11 });
  assertEquals(written(commit), `${anew}\r\n`);
  terminal.size = () => ({ columns: 39, rows: 2 });
  output.draw();
  const rows = (count: number) => () => ({
    rows: Array.from({ length: count }, () => styledRow("an input line", 39)),
    cursor: { row: 0, column: 0 },
  });
  const tall = () => output.commit(rows(3));
  assertEquals(written(tall).startsWith(anew.slice(0, -1)), true);
  output.draw();
  const short = () => output.commit(rows(2));
  assertEquals(written(short).includes("\x1b[J"), false);
  assertEquals(written(() => output.draw()), "an input line\r");
});

Deno.test("TTY-07 a row that a smaller window has broken is taken off whole", () => {
  const { terminal, output, written } = opened({ row: "an input line", column: 8 });
  output.draw();
  terminal.size = () => ({ columns: 8, rows: 12 });
  assertEquals(written(() => output.draw()), "\x1b[A\r\x1b[Jan inpu…\x1b[8G");
});

Deno.test("below the rows that change there is room for another program's output", () => {
  const { terminal, output, written } = opened();
  output.draw();
  terminal.write(output.below());
  assertEquals(written(() => output.draw()), "\x1b[J\x1b[A");
  terminal.write(output.below());
  output.print("text");
  output.draw();
  assertEquals(terminal.rows, ["text", "input"]);
});

Deno.test("a layout of the whole screen is on the alternate one; the other is as it was afterwards", () => {
  const terminal = new FakeTerminal();
  let full: string[] | undefined;
  const layout = ({ columns, rows }: { columns: number; rows: number }) =>
    full === undefined ? { rows: [styledRow("input", columns)], cursor: { row: 0, column: 3 } } : {
      rows: Array.from({ length: rows }, (_, at) => styledRow(full![at] ?? "", columns)),
      cursor: { row: rows - 1, column: 0 },
      isFullScreen: true as const,
    };
  const output = new LiveOutput(terminal, layout, (error) => {
    throw error;
  });
  output.print("above");
  output.draw();
  const { rows } = terminal;
  full = ["x".repeat(40), "two"];
  output.draw();
  assertEquals([terminal.isAlternate, terminal.rows], [true, full]);
  output.print("later");
  output.stream("unfinished");
  full = ["one"];
  output.draw();
  terminal.output = "";
  output.draw();
  assertEquals([terminal.rows, terminal.output], [["one"], ""]);
  output.clearScreen();
  output.draw();
  assertEquals(terminal.rows, ["one"]);
  full = undefined;
  const before = terminal.output.length;
  output.draw();
  assertEquals(terminal.output.slice(before).startsWith("\x1b[?1049l"), true);
  assertEquals([terminal.isAlternate, rows], [false, ["above", "input"]]);
  assertEquals(terminal.rows, ["above", "later", "input"]);
  full = ["one"];
  output.draw();
  terminal.write(output.below());
  assertEquals(terminal.isAlternate, false);
  output.resume();
  output.draw();
  assertEquals(terminal.isAlternate, true);
  output.end();
  assertEquals(terminal.isAlternate, false);
});

Deno.test("much text is shown in several frames", async () => {
  const { terminal, output } = opened();
  const frames: number[] = [];
  const { write } = terminal;
  terminal.write = (text) => {
    write.call(terminal, text);
    frames.push(text.length);
  };
  const lines = Array.from({ length: 1000 }, (_, i) => `line ${i} ${"x".repeat(20)}`);
  output.print(lines.join("\n"));
  output.draw();
  await terminal.until((rows) => rows.at(-2) === lines.at(-1));
  assertEquals(terminal.output.match(/line \d+(?= x)/g)?.length, 1000);
  assertEquals(frames.every((length) => length > 1000 && length < 10_000), true, `${frames}`);
});

Deno.test("rows that a terminal lost as it changed its size and back are shown again, also on the alternate screen", () => {
  for (const isFullScreen of [undefined, true] as const) {
    const terminal = new FakeTerminal();
    const rows = ["one", "two"].map((row) => styledRow(row, 40));
    const frame = { rows, cursor: { row: 1, column: 0 }, ...isFullScreen && { isFullScreen } };
    const output = new LiveOutput(terminal, () => frame, () => {});
    output.draw();
    // A narrower window cut the rows off; the size that is read is that of before.
    terminal.write("\x1b[A\x1b[K\x1b[B\x1b[K");
    output.draw();
    assertEquals(terminal.rows, []);
    output.resized();
    assertEquals(terminal.rows, ["one", "two"]);
    terminal.output = "";
    output.draw();
    assertEquals(terminal.output, "");
  }
});
