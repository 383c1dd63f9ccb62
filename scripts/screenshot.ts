// Draws docs/session.svg from the screen of a real session: the demo, in a tmux of 80 columns. Run
// `deno run -A scripts/screenshot.ts` after a change of the session's looks.
import { fromFileUrl } from "@std/path/from-file-url";
import { terminal } from "../tests/helpers/tmux.ts";

const root = fromFileUrl(new URL("..", import.meta.url));
const COLUMNS = 80;
const [WIDTH, HEIGHT, MARGIN] = [8.4, 18, 16];

/** The colours that the program uses of the palette of 256, for white and for black paper. */
const COLOURS: Record<string, [light: string, dark: string]> = {
  28: ["#1a7f37", "#57ab5a"],
  30: ["#0e7490", "#39c5cf"],
  133: ["#8250df", "#bc8cff"],
  161: ["#cf222e", "#f47067"],
  243: ["#6e7781", "#8b949e"],
};

interface Run {
  text: string;
  column: number;
  classes: string[];
}

/** Splits a row with SGR sequences into runs of one style; `style` goes on in the next row. */
function runsOf(row: string, style: Map<string, string>): Run[] {
  const runs: Run[] = [];
  let column = 0;
  // deno-lint-ignore no-control-regex
  for (const part of row.split(/(\x1b\[[\d;]*m)/)) {
    if (!part.startsWith("\x1b")) {
      if (part !== "") runs.push({ text: part, column, classes: [...style.values()] });
      column += [...part].length;
      continue;
    }
    const codes = part.slice(2, -1).split(";");
    while (codes.length > 0) {
      const code = codes.shift()!;
      if (code === "" || code === "0") style.clear();
      else if (code === "1") style.set("weight", "b");
      else if (code === "2") style.set("dim", "d");
      else if (code === "3") style.set("slant", "i");
      else if (code === "4") style.set("line", "u");
      else if (code === "39") style.delete("colour");
      else if (code === "38") style.set("colour", `c${codes.splice(0, 2)[1]}`);
    }
  }
  return runs;
}

function svg(rows: readonly string[]): string {
  const height = rows.length * HEIGHT + 2 * MARGIN;
  const width = COLUMNS * WIDTH + 2 * MARGIN;
  const escape = (text: string) =>
    text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]!);
  const style = new Map<string, string>();
  const texts = rows.flatMap((row, y) =>
    runsOf(row, style).filter(({ text }) => text.trim() !== "").map(({ text, column, classes }) => {
      const lead = text.length - text.trimStart().length;
      const shown = text.trim();
      const at = `x="${(MARGIN + (column + lead) * WIDTH).toFixed(1)}" y="${
        MARGIN + y * HEIGHT + 13
      }" textLength="${([...shown].length * WIDTH).toFixed(1)}"`;
      const names = classes.length > 0 ? ` class="${classes.join(" ")}"` : "";
      return `<text ${at}${names}>${escape(shown)}</text>`;
    })
  );
  const palette = (which: 0 | 1) =>
    Object.entries(COLOURS).map(([code, colours]) => `.c${code}{fill:${colours[which]}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A session of copilot in a terminal">
<style>
text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
rect{fill:#ffffff;stroke:#d0d7de}
.b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}.d{opacity:.6}
${palette(0)}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#0d1117;stroke:#30363d}${palette(1)}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join("\n")}
</svg>
`;
}

await using screen = await terminal({ columns: COLUMNS, rows: 40 });
const project = `${screen.folder}/sheep`;
await Deno.mkdir(project);
await Deno.writeTextFile(`${project}/README.md`, "# Sheep\n\nCounts sheep at night.\n");
await Deno.writeTextFile(
  `${project}/main.ts`,
  "// Count the sheep: TODO count faster.\nconsole.log(1);\n",
);
await screen.type(`cd sheep; clear; '${Deno.execPath()}' run -A ${root}main.ts --demo\r`);
await screen.until("/help");
await screen.type("What is this project?\r");
await screen.until("leave");
await screen.type('In main.ts, replace "1" with "2".\r');
await screen.until("Run this?");
await screen.type("y\r");
await screen.until((rows) =>
  rows.some((row) => row.startsWith("· edit_file")) &&
  !rows.some((row) => row.includes("Esc stops"))
);
const rows = await screen.screen({ styles: true });
while (rows[0] !== undefined && !rows[0].includes("copilot ·")) rows.shift();
await Deno.writeTextFile(
  `${root}docs/session.svg`,
  svg(rows.map((row) => row.replaceAll(project, "~/sheep"))),
);
