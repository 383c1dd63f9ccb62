/** Programs that run other programs. @module */

import { parseCommandLine } from "./parser.ts";
import { type Redirection, type SimpleCommand, type Word, wordOf } from "./lexer.ts";

/** Programs that run others with any options, and shell words that change the meaning of later words, as `read PATH`. */
const WRAPPERS = new Set(
  `. alias arch ash at bash batch builtin busybox bwrap caffeinate capsh catchsegv cgexec choom chpst
   chronic chroot chrt command compgen complete crontab csh dash dbus-run-session doas dumb-init eatmydata enable entr env
   eval exec expect fakeroot faketime fc firejail fish flock gdb gosu hash history i386 ionice ksh linux32
   linux64 ltrace mapfile mksh nice nix-shell nohup nsenter numactl parallel pkexec prlimit proot
   proxychains proxychains4 rbash read readarray rlwrap runcon runuser screen script set setarch setpriv
   setsid setuidgid sg sh shopt softlimit source ssh stdbuf strace su su-exec sudo sudoedit
   systemd-inhibit systemd-run taskset tcsh time timeout tini tmux torify torsocks toybox trap tsocks uclampset unbuffer
   unshare valgrind watch x86_64 xargs xvfb-run zsh`.split(/\s+/),
);

/** Commands that run others in an environment. A rule may name their start, such as `uv run *`. */
const LAUNCHER =
  /^(asdf|bundle|cabal|conda|direnv|hatch|mise|nodenv|opam|pdm|pipenv|pixi|poetry|pyenv|rbenv|rye|stack|uv) (.* )?(exec|run|x) /;
/** Programs that run lines of the shell: words, their input, or a file. */
const SHELLS =
  /^(\.|alias|at|batch|eval|exec|flock|i386|linux\d+|parallel|runuser|script|setarch|source|su|trap|unshare|watch|x86_64|\w*sh)$/;

/** Options and subcommands with which a program runs others, or writes a file. */
const RUNNING: Readonly<Record<string, readonly string[]>> = {
  cargo: ["--config", "-Z"],
  find: "-exec -execdir -ok -okdir -fls -fprint -fprint0 -fprintf".split(" "),
  fd: ["-x", "-X", "--exec", "--exec-batch"],
  git: [
    ...["--config", "--config-env", "--exec", "--exec-path", "--extcmd", "--ext-diff"],
    ...[
      "--textconv",
      "--open-files-in-pager",
      "--receive-pack",
      "--strategy",
      "--template",
      "--upload-pack",
    ],
    ...["-x", "-O"],
    "--output",
    ...["config", "difftool", "filter-branch", "foreach", "mergetool", "run"],
  ],
  go: ["exec", "ldflags", "overlay", "toolexec", "vettool"].flatMap((name) => [
    `-${name}`,
    `--${name}`,
  ]),
  man: ["-P", "-H", "--pager", "--html"],
  printf: ["-v"],
  rg: ["--pre", "--hostname-bin"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  scp: ["-S", "-o", "-J"],
  sort: ["--compress-program"],
  split: ["--filter"],
  tar: [
    ...["--checkpoint-action", "--info-script", "--new-volume-script", "--rmt-command"],
    ...["--rsh-command", "--to-command", "--use-compress-program", "-F", "-I"],
  ],
  zip: ["-TT", "--unzip-command"],
};

/** Returns the last part of a program's path, in lower case because some systems ignore case. */
export function programName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase().replace(/\.exe$/, "");
}

/** True for a command that runs, or may run, a program that its arguments name. */
export function runsOthers(words: readonly Word[]): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return false;
  const name = programName(first.text);
  if (WRAPPERS.has(name) || /^ld(-linux.*)?\.so/.test(name)) return true;
  // git's first option `-c`, or its subcommand.
  const found = rest.find(({ text }, at) =>
    text.startsWith("-c") ||
    !text.startsWith("-") &&
      !/^(-C|--git-dir|--work-tree|--namespace)$/.test(rest[at - 1]?.text ?? "")
  );
  if (name === "git" && found?.text.startsWith("-c")) return true;
  const options = Object.hasOwn(RUNNING, name) ? RUNNING[name] : undefined;
  return options !== undefined &&
    rest.some(({ text }) => options.some((one) => isOption(text, one)));
}

/** True if `word` contains the option: among other letters, abbreviated, or with a value. */
export function isOption(word: string, option: string): boolean {
  if (word === option) return true;
  const [name] = word.split("=", 1) as [string];
  if (option.startsWith("--")) return name.length > 2 && option.startsWith(name);
  if (/^-.$/su.test(option)) return /^-[^-]/.test(word) && word.includes(option[1]!);
  return name === option;
}

/** Returns the command that `timeout SECONDS` runs, or any other command unchanged. */
export function withoutTimeout(command: SimpleCommand): SimpleCommand {
  const [program, limit, ...words] = command.words;
  const isTimed = program?.kind === "literal" && program.text === "timeout" &&
    limit?.kind === "literal" && /^\d+[smh]?$/.test(limit.text);
  return isTimed ? { ...command, words } : command;
}

/** Commands of longer wrappers are not searched for: wrappers need approval anyway. */
const MAX_WRAPPER_WORDS = 200;
const MAX_WRAPPINGS = 4;
const MAX_PARTS = 5;
const MAX_RUNS = 2000;

/** Builtins of bash that evaluate their words: subscripts (`test -v 'a[$(x)]'`), numbers, lists of completions. */
const EVALUATING = new Set(
  "[ [[ compgen complete declare export getopts let local printf read readonly test typeset unset wait"
    .split(" "),
);
/** The command and the flag with which sed runs programs. */
const RUNS_IN_SED =
  /(^|[;{}\n])\s*([\d$~,]+!?\s*e|\\[^\w\s])|(^|[;{}!$\d/])\s*e(\s|$)|[^\w\s][gimpw\d]*e[gimpw\d]*\s*($|[;}\n])/i;
/** Variables whose values git, a pager and others run as lines of the shell, and aliases of git in any. */
const RUN_VARIABLE =
  /^(?:(?:\w*(?:ASKPASS|BROWSER|COMMAND|DIFF|EDITOR|PAGER|VISUAL)|GIT_SSH|GIT_CONFIG_VALUE_\d+|LESSOPEN|LESSCLOSE)=[|!]?|\w+=(?:.*='?)?!)(.*)$/s;
export const ANY: readonly Word[] = [{ text: "", kind: "dynamic" }];

/**
 * Returns the commands that a command may run: itself; for one that {@linkcode runsOthers}, each of its ends and
 * each argument that is a command line; and those in texts that bash evaluates, such as subscripts and prompts.
 * Not all of them will run: the list is for rules that refuse. It contains {@linkcode ANY} if a text cannot be
 * parsed, or if the shell expands a program's name.
 */
export function mayRun(
  command: SimpleCommand,
  runs: (readonly Word[])[] = [],
  depth = 0,
): (readonly Word[])[] {
  const words = withInput(command);
  runs.push(words);
  const name = programName(words[0]?.text ?? "");
  const isWrapper = runsOthers(words) ||
    LAUNCHER.test([name, ...words.slice(1).map(({ text }) => text)].join(" "));
  const texts = evaluatedTexts(command, isWrapper || EVALUATING.has(name));
  const [{ text: first, kind } = wordOf("")] = words;
  const isExpanded = kind !== "literal" || first.startsWith("/proc/");
  const settings = command.assignments.map(({ name, value }) => `${name}=${value.text}`);
  const lines = [...settings, ...words.map(({ text }) => text)]
    .flatMap((text) => RUN_VARIABLE.exec(text)?.[1] ?? []);
  // bash runs the file of this variable first.
  const isStarted = command.assignments.some((one) => one.name === "BASH_ENV") ||
    words.some(({ text }) => text.startsWith("BASH_ENV="));
  // The words after the name of an alias are part of its line.
  const isOpen = name === "alias" && words.length > 1;
  if (isExpanded || isStarted || isOpen || isWrapper && readsLines(command, words)) runs.push(ANY);
  if (!isWrapper && texts.length + lines.length === 0 && name !== "sed") return runs;
  const isTooMuch = words.length > MAX_WRAPPER_WORDS || depth > MAX_WRAPPINGS ||
    runs.length > MAX_RUNS;
  const isAny = isTooMuch || startsAny(name, words) ||
    name === "sed" &&
      words.some(({ text }) =>
        text === "-" || STREAM_FILE.test(text) ||
        RUNS_IN_SED.test(text.replace(/^-([a-z]*?e|-e\w*=)/i, ""))
      );
  if (isAny) runs.push(ANY);
  if (isTooMuch) return runs;
  const add = (script: string) => {
    const line = parseCommandLine(script);
    for (const inner of line.ok ? line.commands : []) {
      if (inner.words[0]?.text === ":") continue;
      mayRun(inner, runs, depth + 1);
      runs.push(inner.words, ...besides(inner));
    }
    return line.ok;
  };
  for (const line of lines) if (!add(line)) runs.push(ANY);
  for (const text of texts) if (!add(`:<<END_OF_TEXT\n${text}\nEND_OF_TEXT`)) runs.push(ANY);
  for (let at = 1; isWrapper && at < words.length; at++) {
    runs.push(words.slice(at));
    const { text, kind } = words[at]!;
    if (kind !== "literal") continue;
    // Command lines as in `sh -ccommand`, `--action=exec=command` and `alias.x=!command`.
    const parts = text.split("=");
    const ends = parts.slice(0, MAX_PARTS).map((_, n) => parts.slice(n).join("="));
    const whole = text.replace(/^-[a-z]*[cFHIJOPS]/, "");
    const isLine = /=!/.test(text) || words.slice(0, at).some(isShell);
    for (const script of new Set([whole, ...ends])) {
      const isRead = !/[^\w.\/-]/.test(script) || add(script.replace(/^!/, ""));
      if (!isRead && isLine && script === whole) runs.push(ANY);
    }
  }
  return runs;
}

const isShell = ({ text }: Word): boolean => SHELLS.test(programName(text));
/** The output of a command as a file, or what a descriptor leads to. */
const STREAM_FILE = /^<\(|^\/(dev|proc)\//;

/** True if a shell runs lines that are known only when it runs; those in a file are a script's. */
function readsLines({ isPiped, redirections }: SimpleCommand, words: readonly Word[]): boolean {
  const isFed = isPiped ||
    redirections.some(({ operator, target }) =>
      operator === "<&" ||
      /^</.test(operator) && (target.kind !== "literal" || STREAM_FILE.test(target.text))
    );
  const filled = words.findIndex(({ text }) => programName(text) === "xargs");
  const isFilled = filled !== -1;
  return words.some((word, at) => {
    const rest = words.slice(at + 1);
    if (isFilled && at > filled && WRAPPERS.has(programName(word.text))) return true;
    return isShell(word) && (rest.some(({ text }) => STREAM_FILE.test(text)) ||
      isFed && (isFilled || rest.every(({ text }) => text.startsWith("-"))));
  });
}

/** Returns the texts of a command in which bash may run quoted `$(...)` or backquotes. */
function evaluatedTexts({ words, assignments, redirections }: SimpleCommand, evaluates: boolean) {
  return [
    ...evaluates ? words : [],
    ...assignments.map(({ value }) => value),
    ...redirections.filter(({ operator }) => operator === "<<<").map(({ target }) => target),
  ].map(({ text }) => text).filter((text) => /\$\(|`/.test(text));
}

/** True if a wrapper starts a program, or reads a line, that is known only when it runs. */
function startsAny(name: string, words: readonly Word[]): boolean {
  const isBefore = ({ text }: Word) =>
    /^(-|\w+=|[\d.]+[smhd]?$)/.test(text) || WRAPPERS.has(programName(text));
  // A file that a shell reads is a script.
  const isScript = /^(\.|source|\w*sh)$/.test(name);
  const isStart = (at: number) =>
    name === "eval" || /^-\w*c$/.test(words[at - 1]!.text) ||
    WRAPPERS.has(name) && !isScript &&
      words.slice(1, at + 1).every((word, i) => isBefore(word) === (i + 1 < at));
  return words.some(({ kind, text }, at) =>
    at > 0 && kind !== "literal" && text !== "" && isStart(at)
  );
}

/** True for a redirection that neither writes a file nor reads one. */
export function isHarmless({ operator, target }: Redirection): boolean {
  if (target.kind !== "literal") return false;
  if (/^<<[<-]?$/.test(operator) || target.text === "/dev/null") return true;
  return /^[<>]&$/.test(operator) && /^(\d+|-)$/.test(target.text);
}

/** Returns redirections and assignments as commands: the operator, with its target as the argument. */
export function besides({ redirections, assignments }: SimpleCommand): (readonly Word[])[] {
  return [
    ...redirections.filter((one) => !isHarmless(one)),
    ...assignments.map(({ value }) => ({ operator: "=", target: value })),
  ].map(({ operator, target }) => [wordOf(operator), target]);
}

const WRITERS = "chmod chown mkdir mv rm rmdir shred tee touch truncate unlink".split(" ");
/** Programs that write only their last operand, and read the others. */
const LAST_WRITERS = ["cp", "install", "ln", "rsync"];

/** Returns the words that a command or redirection is known to write. A program may write more. */
export function writtenBy([first, ...rest]: readonly Word[]): readonly Word[] {
  const name = programName(first?.text ?? "");
  const operands = rest.filter(({ text }) => !text.startsWith("-"));
  const has = (option: RegExp) => rest.some(({ text }) => option.test(text));
  if (WRITERS.includes(name) || />/.test(name)) return operands;
  if (name === "sed") return has(/^-[^-]*i|^--in/) ? operands : [];
  if (name === "dd") return rest.filter(({ text }) => text.startsWith("of="));
  if (!LAST_WRITERS.includes(name)) return [];
  return name !== "rsync" && has(/^-[^-]*t|^--t/) ? rest : operands.slice(-1);
}

/** Returns the words of a command, with the text of its here-documents if it runs other programs. */
function withInput({ words, redirections }: SimpleCommand): readonly Word[] {
  if (!runsOthers(words)) return words;
  const texts = redirections.filter(({ operator }) => operator.startsWith("<<"));
  return [...words, ...texts.map(({ target }) => wordOf(target.text))];
}
