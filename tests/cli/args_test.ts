import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { asUsage, FLAGS, outputAsked, parseArgs, usageText } from "../../src/cli/args.ts";
import { localConfig } from "../../src/config.ts";
import { UsageError } from "../../src/errors.ts";

const good: [words: string[], args: Record<string, unknown>][] = [
  [[], {}],
  [["-p", "hi"], { print: "hi" }],
  [["--print", "hi"], { print: "hi" }],
  [["--print=hi"], { print: "hi" }],
  [["-p=a=b"], { print: "a=b" }],
  [["-p"], { print: "" }],
  [["--local", "-p"], { print: "", local: true }],
  // The word after -p is the prompt, unless it is the name of a flag.
  [["-p", "--no-session"], { print: "", "no-session": true }],
  [["-p", "--output", "json", "hello"], { print: "hello", output: "json" }],
  [["-p", "--until", "npm test", "Fix it"], { print: "Fix it", until: "npm test" }],
  [["-p", "--output=json"], { print: "--output=json" }],
  [["-p", "--localhost"], { print: "--localhost" }],
  [["-p", "--base-url=http://evil/ x"], { print: "--base-url=http://evil/ x" }],
  [["-p", "--"], { print: "" }],
  [["-p", "--", "--local"], { print: "--local" }],
  [["--print=--yes"], { print: "--yes" }],
  [["--output", "json", "-p"], { output: "json", print: "" }],
  // What follows -- is no flag.
  [["--"], {}],
  [["--local", "--", "--yes"], { local: true, message: "--yes" }],
  [["--", "--"], { message: "--" }],
  [["--", "fix it"], { message: "fix it" }],
  [["--", "doctor"], { message: "doctor" }],
  [["fix the tests"], { message: "fix the tests" }],
  [["explain", "--local"], { message: "explain", local: true }],
  [[""], { message: "" }],
  [["help"], { help: true }],
  [["help", "--local"], { message: "help", local: true }],
  [["review this", "-p"], { print: "review this" }],
  [["--print=", "--", "-y"], { print: "-y" }],
  [["-p", "- fix the list"], { print: "- fix the list" }],
  [["-p", "--help is wrong"], { print: "--help is wrong" }],
  [["-p", ""], { print: "" }],
  [["--local", "--host", "http://x:1", "-m", "qwen3"], {
    local: true,
    host: "http://x:1",
    model: "qwen3",
  }],
  [["--temperature", "-1"], { temperature: "-1" }],
  [["doctor", "--json"], { command: "doctor", json: true }],
  [["-y", "-h", "-V"], { yes: true, help: true, version: true }],
];

Deno.test("parseArgs reads", () => {
  for (const [words, args] of good) {
    assertEquals(parseArgs(words) as unknown, args, words.join(" "));
  }
});

const ONE_WORD = 'give one message, in quotes: "..."';
const bad: [words: string[], message: string][] = [
  [["--lokal"], 'Unknown flag "--lokal": did you mean --local?'],
  [["--yolo"], 'Unknown flag "--yolo": --yes runs edits and commands without asking'],
  [
    ["exec", "fix it"],
    'Unexpected argument "exec": for one answer on stdout, run copilot -p "PROMPT"',
  ],
  [
    ["--base-url", "http://x", "exec", "fix it"],
    'Unexpected argument "exec": for one answer on stdout, run copilot -p "PROMPT"',
  ],
  [["--local", "version"], 'Unexpected argument "version": copilot --version prints it'],
  [["--modle", "x"], 'Unknown flag "--modle": did you mean --model?'],
  [["--zzzzzzzz"], 'Unknown flag "--zzzzzzzz": --help lists the flags'],
  [["-x"], 'Unknown flag "-x": --help lists the flags'],
  [["-p", "a", "-p", "b"], "--print is given twice"],
  [["-p", "a", "--", "--yes"], `Unexpected argument "--yes": ${ONE_WORD}`],
  [["--", "a", "b"], `Unexpected argument "b": ${ONE_WORD}`],
  [["--", "a", "--yes"], `Unexpected argument "--yes": ${ONE_WORD}`],
  [["-p", "--", "--yes", "x"], `Unexpected argument "x": ${ONE_WORD}`],
  [["-p", "-p"], "-p goes before -p (to send it as the prompt, write -p=-p)"],
  [["-p", "--hosted"], "--hosted goes before -p (to send it as the prompt, write -p=--hosted)"],
  [["-p", "--yes"], "--yes goes before -p (to send it as the prompt, write -p=--yes)"],
  [["-p", "-y", "--local"], "-y goes before -p (to send it as the prompt, write -p=-y)"],
  [["--model", "--", "x"], "--model needs a value: --model NAME"],
  [
    ["-p", "--yse", "hello"],
    'Unexpected argument "hello": the prompt is "--yse": flags go before -p',
  ],
  [["-p", "fix", "the", "bug"], `Unexpected argument "the": ${ONE_WORD}`],
  [["fix", "the", "bug"], `Unexpected argument "the": ${ONE_WORD}`],
  [["fix it", "-p", "or not"], `Unexpected argument "fix it": ${ONE_WORD}`],
  [["doctor", "x"], 'Unexpected argument "x": copilot doctor takes only flags'],
  [["-p", "a", "so ".repeat(40)], `Unexpected argument "${"so ".repeat(19)}so…": ${ONE_WORD}`],
  [
    ["resume"],
    'Unexpected argument "resume": --continue resumes the newest session, and --resume lists the others',
  ],
  [["docter"], 'Unexpected argument "docter": did you mean copilot doctor?'],
  [["--demo", "doctor"], 'Unexpected argument "doctor": it comes first: copilot doctor ...'],
  [["--local", "mcp"], 'Unexpected argument "mcp": it comes first: copilot mcp ...'],
  [["-p", "x", "doctor"], 'Unexpected argument "doctor": it comes first: copilot doctor ...'],
  [["x", "doctor"], 'Unexpected argument "doctor": it comes first: copilot doctor ...'],
  [["--model"], "--model needs a value: --model NAME"],
  [["--model", "--local"], "--model needs a value: --model NAME"],
  [["--local=yes"], "--local takes no value"],
  [["--think", "maybe"], '--think must be one of on, off, low, medium, high: it is "maybe"'],
  [["--approve=all"], '--approve must be one of plan, never, ask, auto, edits: it is "all"'],
  [["--model", "a", "-m", "b"], "--model is given twice"],
];

Deno.test("parseArgs refuses", () => {
  for (const [words, message] of bad) {
    const error = assertThrows(() => parseArgs(words), UsageError, undefined, words.join(" "));
    assertEquals(error.message, message);
  }
});

Deno.test("the format of a usage error is that of --output", () => {
  const rows: [words: string[], format: string | undefined][] = [
    [["--nope", "--output", "json"], "json"],
    [["--output=json", "--nope"], "json"],
    [["nope", "-p", "x", "--output=stream-json"], "stream-json"],
    [["--model", "--output", "json"], "json"],
    [["--output"], undefined],
    [["-p", "--output", "json"], "json"],
    [["-p=x", "--output", "json", "--nope"], "json"],
    [["-C", "json", "--nope"], undefined],
  ];
  for (const [words, format] of rows) assertEquals(outputAsked(words), format, words.join(" "));
});

Deno.test("--resume takes a word, and is a question without one", () => {
  const rows: [words: string[], args: object][] = [
    [["--resume"], { resume: "" }],
    [["--resume", "1568fabb"], { resume: "1568fabb" }],
    [["--resume=1568fabb", "fix it"], { resume: "1568fabb", message: "fix it" }],
    [["--resume", "--yes"], { resume: "", yes: true }],
  ];
  for (const [words, args] of rows) assertEquals(parseArgs(words), args);
});

Deno.test("the help names every flag and keeps to 80 columns", () => {
  const help = usageText();
  for (const { name } of FLAGS) assertStringIncludes(help, `--${name}`);
  for (const line of help.split("\n")) assertEquals(line.length <= 80, true, line);
  // In two columns, as wide as they may be.
  const rows = `
Prompt and output:
  -p, --print [PROMPT]               answer one prompt and exit; piped text is
                                     context, or the prompt if -p comes last
  -i, --image FILE                   with -p: attach an image; may be repeated
`;
  assertStringIncludes(help, rows);
  assertMatch(help, /^Exit codes:\n {2}0 done.{55,70}\n {2}\S/m);
});

Deno.test("a setting that is refused is named as its flag; what is no setting's error stays", () => {
  const wrong = (make: () => unknown) => assertThrows(() => asUsage(make));
  assertEquals(asUsage(() => 1), 1);
  const cases = [
    [{ maxTokens: 0.5 }, "max-tokens"],
    [{ connectTimeoutMs: -1 }, "connect-timeout"],
    [{ model: "" }, "model"],
  ] as const;
  for (const [settings, flag] of cases) {
    const error = wrong(() => localConfig(settings));
    assertEquals(error instanceof UsageError, true);
    assertStringIncludes((error as Error).message, `Cannot use --${flag} as `);
  }
  const topP = () => localConfig({ topP: 2 });
  for (
    const [given, name] of [[{}, '"top-p" in config.json'], [{ "top-p": "2" }, "--top-p"]] as const
  ) {
    assertThrows(() => asUsage(topP, { given }), UsageError, `Cannot use ${name} as `);
  }
  const other = wrong(() => {
    throw new TypeError("of another kind");
  });
  assertEquals([other instanceof UsageError, (other as Error).message], [true, "of another kind"]);
  const failure = new Error("a defect");
  assertEquals(
    wrong(() => {
      throw failure;
    }),
    failure,
  );
});
