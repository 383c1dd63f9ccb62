import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import type { SimpleCommand, Word } from "../../../src/safety/shell/lexer.ts";
import { parseCommandLine } from "../../../src/safety/shell/parser.ts";
import { seeded } from "../../helpers/split.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

const BASH = ["/bin/bash", "/usr/bin/bash"].find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
});
const LINES = Number(Deno.env.get("FUZZ_LINES") ?? 700);
const REPORT = Deno.env.has("FUZZ_LINES");
const SEED = Number(Deno.env.get("FUZZ_SEED") ?? 20_240_817);

function random(seed: number): (below: number) => number {
  const next = seeded(seed);
  return (below) => Math.floor(next() * below);
}

// Programs that fail have odd numbers, so that loops end.
const ATOMS = [
  "a",
  "p2",
  "x y",
  "-o",
  "1",
  "--",
  "in",
  "do",
  "}",
  "#",
  "=",
  "esac",
  "if",
  "%s",
  "]]",
];

/** Lines of tricky pieces; `p0` to `p9` are programs, nothing else may be started. */
function grammar(below: (n: number) => number) {
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const program = () =>
    pick([
      () => `p${below(10)}`,
      () => `p${below(10)}`,
      () => `p${below(10)}`,
      () => `'p'${below(10)}`,
      () => `"p${below(10)}"`,
      () => `\\p${below(10)}`,
      () => `$'\\x70${below(10)}'`,
      () => `p""${below(10)}`,
      () => "$V",
      () => `{p${below(10)},a}`,
      () => "!p1",
      () => "''",
    ])();
  const atom = () => pick(ATOMS);
  const word = (d: number): string =>
    pick([
      () => pick("a -o b1 in do } { esac fi = a=b ! time [[ ]]".split(" ")),
      () => `'${atom()}'`,
      () => `"${atom()}"`,
      () => `"${atom()} ${d > 0 ? inside(d - 1) : "$V"}"`,
      () => `a\\${pick([" ", "\\", "'", '"', ";", "&", "|", "#", "$", "(", ")", "\n", "`"])}b`,
      () =>
        `$'${pick(["\\n", "\\'", "a'\\'", "\\\\", "\\x41", "\\101", "\\u41", "\\cA"])}${atom()}'`,
      () => `$"${atom()}"`,
      () => `a#${atom()}`,
      () => `{${atom()},b}`,
      () =>
        pick([
          "*",
          "?",
          "[a]",
          "~",
          "~+",
          "{}",
          "{1..3}",
          "$",
          "$V",
          "${V}",
          "${V:-a b}",
          "$?",
          "$$",
        ]),
      () => d > 0 ? inside(d - 1) : "x",
      () => `a${d > 0 ? inside(d - 1) : "x"}'b'`,
      () => `${pick(["<", ">"])}(${d > 0 ? line(d - 1) : "p1"})`,
      () => `\${V:-${d > 0 ? inside(d - 1) : "x"}}`,
      () => "$((1+2))",
    ])();
  const inside = (d: number): string =>
    pick([
      () => `$(${line(d)})`,
      () => `$( ${line(d)} )`,
      () => `\`${line(d).replace(/[\\`$]/g, "\\$&")}\``,
      () => `\`p${below(10)} ${atom()}\``,
      () => `$(\n${line(d)}\n)`,
      () => below(6) ? `$(p5)` : `$((p1) ; p2)`,
    ])();
  const redirection = (d: number): string =>
    pick([
      () => `>${pick(["", " ", "|", ">", "&"])}${pick(["f", "g", "'f'", "$V"])}`,
      () => `2>&1`,
      () => `${pick(["&>", "&>>", "<>", "1>", "2>", "3<", "> "])}f`,
      () => `<<<${pick(["", " "])}${word(d)}`,
      () => `<<E`,
      () => `<<'E'`,
      () => `<<-\\E`,
      () => `< <(${d > 0 ? line(d - 1) : "p3"})`,
      () => `2>>f`,
      () => below(6) ? `2> f` : `{fd}>f`,
    ])();
  const body = (d: number): string =>
    pick(["", "x\n", "'\n", '"\n', "\tE x\n", "p9 $V\n", "#\n", "\\$(p8)\n", ")\n", "a\\\n"]) +
    (below(2) ? "" : `${inside(d)}\n`) + pick(["E\n", "E\n", "\tE\n", "E", "E )\n"]);
  const simple = (d: number): string => {
    const parts: string[] = [];
    if (below(6) === 0) parts.push(`${pick(["A", "B"])}${pick(["=", "+="])}${word(d)}`);
    if (below(9) === 0) parts.push(redirection(d));
    if (below(12) > 0) parts.push(program());
    for (let n = below(4); n > 0; n--) parts.push(below(6) ? word(d) : redirection(d));
    if (below(20) === 0) parts.push(`# ${atom()} ' "`);
    const text = parts.map((part) =>
      part + pick([" ", " ", " ", "\t", " \\\n", below(40) ? " " : "\\\n"])
    ).join("");
    return /<</.test(text) && below(4) ? `${text}\n${body(d)}` : text;
  };
  const command = (d: number): string =>
    d <= 0 || below(3) ? simple(Math.max(0, d)) : pick([
      () => `(${line(d - 1)})`,
      () => `{ ${line(d - 1)}; }`,
      () => `! ${command(d - 1)}`,
      () => `time ${pick(["", "-p ", "-- ", "-p -- "])}${command(d - 1)}`,
      () => `if ${line(d - 1)}; then ${line(d - 1)}; else ${line(d - 1)}; fi`,
      () => `for i in ${word(d - 1)} ${word(0)}; do ${line(d - 1)}; done`,
      () => `for i\ndo p4 $i; done`,
      () => `while p1; do ${line(d - 1)}; done`,
      () => `until p2; do ${line(d - 1)}; done`,
      () =>
        `case ${word(d - 1)} in ${pick(["", "("])}a|${word(0)}) ${line(d - 1)} ;; *) ${
          line(d - 1)
        }${pick([";;", "", ";&", "\n"])} esac`,
      () => `[[ ${word(d - 1)} ${pick(["==", "=~", "&& -n", "<"])} ${word(0)} ]]`,
      () => `f() { ${line(d - 1)}; }`,
      () => `function f { ${line(d - 1)}; }`,
      () => `f () (${line(d - 1)})\nf ${word(0)}`,
      () => `((${below(3)}+1))`,
      () => `A=(${word(0)} ${word(0)})`,
      () => `A[${below(3)}]=${word(0)}`,
      () => `coproc ${simple(d - 1)}`,
      () => `{ ${line(d - 1)}; } ${redirection(0)}`,
      () => `if p${below(10)}\nthen ${line(d - 1)}\nfi`,
      () => `eval ${simple(0)}`.replace("eval", ":"),
    ])();
  const line = (d: number): string => {
    let text = command(d);
    for (let n = below(3); n > 0; n--) {
      text += pick([";", "&&", "||", "|", "|&", "&", "\n", ";\n", " ; ", " && ", "\n\n"]) +
        command(d);
    }
    return text;
  };
  const SOUP =
    "p1 p2 ' \" ` $( ) ( { } ; & | < > << E \n \\ # $ ${ $' case in esac do a=b ;; [[ ]] <( $(("
      .split(" ");
  return (): string => {
    if (below(8) === 0) {
      return Array.from({ length: 1 + below(12) }, () => pick(SOUP) + pick(["", " "])).join("");
    }
    const text = line(below(3));
    // A loop that was changed may not end.
    if (below(3) || /while|until/.test(text)) return text;
    const at = below(text.length + 1);
    return text.slice(0, at) + pick([...SOUP, "\t", "!", "*", "~"]) + text.slice(at + below(3));
  };
}

/** With neither PATH nor a slash in a name nothing can be started; what would be is written down. */
const HARNESS = `
PATH=$PWD/none FUNCNEST=30 V=
unset BASH_ENV ENV
command_not_found_handle() {
  local IFS=$'\\x1f'
  # Without line ends it is one write, which no other can part.
  set -- "\${@//$'\\n'/$'\\x1e'}"
  builtin printf '%s\\0' "$N$IFS$*" >&8
  [[ $1 == *[02468] ]]
}
exec 8>&1 9<../lines
while IFS= read -r -d '' -u 9 N && IFS= read -r -d '' -u 9 script; do
  ( ulimit -t 1; exec 9<&-; eval "$script"; wait ) </dev/null >/dev/null 2>&1
done
`;

async function started(lines: readonly string[]): Promise<string[][][]> {
  using temp = tempFolder();
  const dir = temp.path;
  const input = join(dir, "lines");
  await Deno.writeTextFile(input, lines.map((line, n) => `${n}\0${line}\0`).join(""));
  await Deno.mkdir(join(dir, "cwd"));
  const { stdout } = await new Deno.Command(BASH!, {
    args: ["--norc", "--noprofile", "-c", HARNESS],
    cwd: join(dir, "cwd"),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).output();
  const found: string[][][] = lines.map(() => []);
  for (const record of new TextDecoder().decode(stdout).split("\0").slice(0, -1)) {
    const [line, ...argv] = record.replaceAll("\x1e", "\n").split("\x1f");
    found[Number(line)]!.push(argv);
  }
  return found;
}

/** Whether words that are known in part can become these arguments. */
function canBe(words: readonly Word[], argv: readonly string[]): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return argv.length === 0;
  if (first.kind === "literal") return first.text === argv[0] && canBe(rest, argv.slice(1));
  return Array.from({ length: argv.length + 1 }).some((_, n) => canBe(rest, argv.slice(n)));
}

function explains({ words }: SimpleCommand, argv: readonly string[]): boolean {
  return words.length > 0 && canBe(words, argv);
}

Deno.test(
  "CMD-01 whatever bash starts is among the commands of the line, or the line is not understood",
  { ignore: BASH === undefined },
  async () => {
    const next = grammar(random(SEED));
    const lines = Array.from({ length: LINES }, next).filter((line) => !line.includes("\0"));
    const runs = await started(lines);
    const reasons: Record<string, number> = {};
    let understood = 0;
    let programs = 0;
    const misses: string[] = [];
    for (const [n, line] of lines.entries()) {
      const parsed = parseCommandLine(line);
      if (!parsed.ok) {
        if (REPORT) reasons[parsed.reason] = (reasons[parsed.reason] ?? 0) + 1;
        continue;
      }
      understood++;
      for (const argv of runs[n]!) {
        programs++;
        if (parsed.commands.some((command) => explains(command, argv))) continue;
        misses.push(`${JSON.stringify(line)} starts ${JSON.stringify(argv)}`);
      }
    }
    if (REPORT) console.log({ lines: lines.length, understood, programs }, reasons);
    assertEquals(misses.slice(0, 10), []);
    // Else it would prove nothing.
    assert(understood > lines.length / 4, `only ${understood} lines of ${lines.length} understood`);
    assert(programs > lines.length / 4, `only ${programs} programs seen`);
  },
);
