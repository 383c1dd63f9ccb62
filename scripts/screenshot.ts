// Draws docs/session.svg from a real session: the demo in a tmux of 80 columns, for dark and light paper in one
// file. Run `scripts/screenshot` after the session's look changes.
import { fromFileUrl } from "@std/path/from-file-url";
import { BAND_ROLES, TEXT_ROLES } from "../src/ui/terminal/style.ts";
import { asksAboutCall, terminal } from "../tests/helpers/tmux.ts";

const root = fromFileUrl(new URL("..", import.meta.url));
const COLUMNS = 80;
const [WIDTH, HEIGHT, MARGIN] = [8.4, 18, 16];

/** The classes of the program's colours: of text and of bands, on dark and on light paper. */
const COLOURS = ([["c", TEXT_ROLES], ["k", BAND_ROLES]] as const).flatMap(([kind, roles]) =>
  roles.map(([, , dark, light]) => ({ name: `${kind}${dark.slice(1)}`, dark, light }))
);

interface Run {
  text: string;
  column: number;
  classes: string[];
}

// deno-lint-ignore no-control-regex
const SGR = /\x1b\[[\d;]*m/g;

/** Splits a row with SGR sequences into runs of one style. `style` continues in the next row. */
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
      else if (code === "7") style.set("swap", "r");
      else if (code === "39") style.delete("colour");
      else if (code === "49") style.delete("band");
      else if (code === "38" || code === "48") {
        const [, ...rgb] = codes.splice(0, 4).map(Number);
        const hex = rgb.map((value) => value.toString(16).padStart(2, "0")).join("");
        style.set(code === "38" ? "colour" : "band", `${code === "38" ? "c" : "k"}${hex}`);
      }
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
    runsOf(row, style).flatMap(({ text, column, classes }, at, runs) => {
      // A row in reverse has the colour of its text as its background.
      const isSwapped = classes.includes("r");
      const band = classes.find((name) => name.startsWith(isSwapped ? "c" : "k"));
      const box = `x="${(MARGIN + column * WIDTH).toFixed(1)}" y="${MARGIN + y * HEIGHT - 1}"`;
      // tmux does not capture the blanks at the end of a row, so an open band continues to the margin.
      const isOpen = at === runs.length - 1 && (style.has("band") || style.has("swap"));
      const covered = isOpen ? COLUMNS - column : [...text].length;
      const size = `width="${(covered * WIDTH).toFixed(1)}" height="${HEIGHT}"`;
      const bands = band === undefined ? [] : [`<rect ${box} ${size} class="${band}"/>`];
      if (text.trim() === "") return bands;
      const lead = text.length - text.trimStart().length;
      const shown = text.trim();
      const place = `x="${(MARGIN + (column + lead) * WIDTH).toFixed(1)}" y="${
        MARGIN + y * HEIGHT + 13
      }" textLength="${([...shown].length * WIDTH).toFixed(1)}"`;
      const styles = classes.filter((name) => name !== band);
      const names = styles.length > 0 ? ` class="${styles.join(" ")}"` : "";
      return [...bands, `<text ${place}${names}>${escape(shown)}</text>`];
    })
  );
  const palette = (which: "dark" | "light") =>
    COLOURS.map((colour) => `.${colour.name}{fill:${colour[which]}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A session of copilot in a terminal">
<style>
text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.paper{fill:#ffffff;stroke:#d0d7de}
.r{fill:#ffffff}.b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}.d{opacity:.6}
${palette("light")}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.r{fill:#0d1117}.paper{fill:#0d1117;stroke:#30363d}${
    palette("dark")
  }}
</style>
<rect class="paper" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join("\n")}
</svg>
`;
}

/** Returns the rows from the program's first one, without blank rows at the start and before the last. */
function ofProgram(rows: string[]): string[] {
  const first = Math.max(
    0,
    rows.findIndex((row) => /^\S*copilot [\d.]+/.test(row.replace(SGR, ""))),
  );
  const shown = rows.slice(first).map((row) => row.replace(/[/…]\S+\/shop\b/, "~/shop"));
  const isText = (row: string) => row.replace(SGR, "").trim() !== "";
  const end = shown.slice(0, -1).findLastIndex(isText) + 1;
  return [...shown.slice(shown.findIndex(isText), end), ...shown.slice(-1)];
}

/** Returns the rows of a session that has ended its work. */
async function shoot(): Promise<string[]> {
  await using screen = await terminal({ columns: COLUMNS, rows: 60 });
  const program = `'${Deno.execPath()}' run -A ${root}main.ts`;
  await screen.type(
    `export COLORTERM=truecolor HOME=${screen.folder}; clear; ${program} --demo --theme dark\r`,
  );
  await screen.until("> The tests fail. Fix them.");
  await screen.type("\r");
  await screen.until(asksAboutCall);
  await screen.type("y");
  await screen.until((rows) => asksAboutCall(rows) && rows.some((row) => /^▌ Edit /.test(row)));
  await screen.type("y");
  await screen.until((rows) =>
    asksAboutCall(rows) && rows.some((row) => row.startsWith("▌ Run ")) &&
    rows.some((row) => row.startsWith("● Edited"))
  );
  await screen.type("y");
  await screen.until("> /undo");
  await screen.type("\x15");
  await screen.until((rows) => rows.at(-2) === ">");
  const rows = ofProgram(await screen.screen({ styles: true }));
  // The tour's own words come after the work.
  const end = rows.findIndex((row) => /^\/undo is in/.test(row.replace(SGR, "")));
  return end > 0 ? rows.slice(0, end - 1) : rows;
}

await Deno.writeTextFile(`${root}docs/session.svg`, svg(await shoot()));
