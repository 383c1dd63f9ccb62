/**
 * Programs that run other programs.
 *
 * @module
 */

import { parseCommandLine } from "./words.ts";
import type { Redirection, SimpleCommand, Word } from "./lexer.ts";

/** Whatever their options; those of the shell that change what later words mean are among them. */
const WRAPPERS = new Set(
  `. alias arch ash at bash batch builtin busybox bwrap caffeinate capsh catchsegv cgexec chpst
   chroot chrt command crontab csh dash dbus-run-session doas dumb-init eatmydata enable entr env
   eval exec expect fakeroot faketime firejail fish flock gdb gosu hash ionice ksh linux32
   linux64 ltrace mapfile mksh nice nix-shell nohup nsenter numactl parallel pkexec prlimit proot
   proxychains proxychains4 rbash readarray rlwrap runuser screen script set setarch setpriv
   setsid setuidgid sg sh shopt softlimit source ssh stdbuf strace su su-exec sudo sudoedit
   systemd-run taskset tcsh time timeout tini tmux torify torsocks toybox trap tsocks unbuffer
   unshare valgrind watch xargs xvfb-run zsh`.split(/\s+/),
);

/** Programs that run others when one of these is among their words. */
const RUNNING: Readonly<Record<string, readonly string[]>> = {
  find: ["-exec", "-execdir", "-ok", "-okdir"],
  fd: ["-x", "-X", "--exec", "--exec-batch"],
  git: [
    ...[
      "--config",
      "--config-env",
      "--exec",
      "--exec-path",
      "--extcmd",
      "--ext-diff",
      "--textconv",
    ],
    // Not to run, but to write a file with.
    "--output",
    ...["--open-files-in-pager", "--receive-pack", "--template", "--upload-pack", "-x", "-O"],
    ...["config", "difftool", "filter-branch", "foreach", "mergetool", "run"],
  ],
  go: ["-exec", "-toolexec"],
  man: ["-P", "-H", "--pager", "--html"],
  rg: ["--pre", "--hostname-bin"],
  rsync: ["-e", "--rsh", "--rsync-path"],
  scp: ["-S", "-o", "-J"],
  sort: ["--compress-program"],
  tar: [
    ...["--checkpoint-action", "--info-script", "--new-volume-script", "--rmt-command"],
    ...["--rsh-command", "--to-command", "--use-compress-program", "-F", "-I"],
  ],
  zip: ["-TT", "--unzip-command"],
};

/** The last part of a program's path, as systems compare it that ignore case. */
export function programName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase().replace(/\.exe$/, "");
}

/** Whether a command runs, or may run, a program that is only named by its arguments. */
export function runsOthers(words: readonly Word[]): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return false;
  const name = programName(first.text);
  if (WRAPPERS.has(name) || /^ld(-linux.*)?\.so/.test(name)) return true;
  if (name === "git" && globalOptions(rest).some(({ text }) => text.startsWith("-c"))) return true;
  const options = Object.hasOwn(RUNNING, name) ? RUNNING[name] : undefined;
  return options !== undefined && rest.some(({ text }) => options.some((one) => is(text, one)));
}

/** Whether `word` is the option: also shortened, as most programs take it, or with a value. */
function is(word: string, option: string): boolean {
  const [name] = word.split("=", 1) as [string];
  if (option.startsWith("--")) return name.length > 3 && option.startsWith(name);
  // A value may follow a letter without a blank, and letters may stand together.
  if (/^-.$/.test(option)) return /^-[^-]/.test(word) && word.includes(option[1]!);
  return name === option;
}

/** The options of git before its subcommand. */
function globalOptions(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ text }) => !text.startsWith("-"));
  return end < 0 ? words : words.slice(0, end);
}

/** Beyond these, what a wrapper runs is not looked for; it asks anyway. */
const MAX_WORDS = 200;
const MAX_DEPTH = 4;
const MAX_PARTS = 5;
const MAX_RUNS = 2000;

/**
 * What a command may come to run, as far as it can be seen: itself, and where it
 * {@linkcode runsOthers}, each of its ends and each argument that is a command line. More than
 * will run: made for rules that refuse.
 */
export function mayRun(words: readonly Word[]): (readonly Word[])[] {
  const runs: (readonly Word[])[] = [];
  collect(words, runs, 0);
  return runs;
}

/** Whether a redirection neither writes a file nor reads one. */
export function isHarmless({ operator, target }: Redirection): boolean {
  if (target.kind !== "literal") return false;
  if (/^<<[<-]?$/.test(operator) || target.text === "/dev/null") return true;
  return /^[<>]&$/.test(operator) && /^(\d+|-)$/.test(target.text);
}

/** Redirections and assignments as if each were a command: the operator, and what it is called with. */
export function besides({ redirections, assignments }: SimpleCommand): (readonly Word[])[] {
  return [
    ...redirections.filter((one) => !isHarmless(one)),
    ...assignments.map(({ value }) => ({ operator: "=", target: value })),
  ].map(({ operator, target }) => [{ text: operator, kind: "literal" }, target]);
}

/** Programs that write or remove whatever they name. */
const WRITERS = new Set(
  "chmod chown mkdir mv rm rmdir shred tee touch truncate unlink".split(" "),
);
/** Those that read the rest. */
const LAST_WRITERS = new Set("cp install ln rsync".split(" "));

/** The words of what a command, or a redirection, is known to write; of many more nobody knows. */
export function writtenBy([first, ...rest]: readonly Word[]): readonly Word[] {
  const name = programName(first?.text ?? "");
  const operands = rest.filter(({ text }) => !text.startsWith("-"));
  const has = (option: RegExp) => rest.some(({ text }) => option.test(text));
  if (WRITERS.has(name) || />/.test(name)) return operands;
  if (name === "sed") return has(/^-[^-]*i|^--in/) ? operands : [];
  if (name === "dd") return rest.filter(({ text }) => text.startsWith("of="));
  if (!LAST_WRITERS.has(name)) return [];
  return name !== "rsync" && has(/^-[^-]*t|^--t/) ? rest : operands.slice(-1);
}

/** The words of a command; with the text that a shell, or what runs one, is given to read. */
export function withInput({ words, redirections }: SimpleCommand): readonly Word[] {
  if (!runsOthers(words)) return words;
  const texts = redirections.filter(({ operator }) => operator.startsWith("<<"));
  return [...words, ...texts.map(({ target }): Word => ({ text: target.text, kind: "literal" }))];
}

function collect(words: readonly Word[], runs: (readonly Word[])[], depth: number): void {
  runs.push(words);
  const isTooMuch = words.length > MAX_WORDS || depth > MAX_DEPTH || runs.length > MAX_RUNS;
  if (isTooMuch || !runsOthers(words)) return;
  for (let at = 1; at < words.length; at++) runs.push(words.slice(at));
  for (const { text, kind } of words.slice(1)) {
    if (kind !== "literal") continue;
    // As `sh -ccommand`, `--action=exec=command` and `alias.x=!command` have it.
    const parts = text.split("=");
    const scripts = new Set([text.replace(/^-[a-z]*c/, "")]);
    for (let n = 0; n < Math.min(parts.length, MAX_PARTS); n++) {
      scripts.add(parts.slice(n).join("="));
    }
    for (const script of scripts) {
      if (!/[^\w.\/-]/.test(script)) continue;
      const line = parseCommandLine(script.replace(/^!/, ""));
      if (!line.ok) continue;
      for (const command of line.commands) {
        collect(withInput(command), runs, depth + 1);
        runs.push(command.words, ...besides(command));
      }
    }
  }
}
