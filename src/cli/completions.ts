/**
 * Completions for shells, and the manual page, from the table of flags. Sources: bash(1)
 * "Programmable Completion", zshcompsys(1), fish's `complete`, man(7).
 * @module
 */

import { COMMAND_NAMES, COMMANDS, EXAMPLES, type Flag, FLAGS } from "./args.ts";
import { UsageError } from "../errors.ts";
import { EXIT_CODES } from "../frontends/exit_codes.ts";

const flags: readonly Flag[] = FLAGS;

/** The script that makes a shell complete our flags. */
export function completionScript(shell: string): string {
  const script = SHELLS.get(shell);
  if (script) return script();
  throw new UsageError(
    `--completions knows bash, zsh and fish: it is ${JSON.stringify(shell.slice(0, 60))}`,
  );
}

const SHELLS: ReadonlyMap<string, () => string> = new Map([
  ["bash", bashScript],
  ["zsh", zshScript],
  ["fish", fishScript],
]);

function bashScript(): string {
  const cases = flags.filter(({ value }) => value).map(({ name, short, values }) => {
    const words = values === "folders"
      ? "-d"
      : values === "files"
      ? "-f"
      : values && `-W "${values.join(" ")}"`;
    const reply = words ? `COMPREPLY=($(compgen ${words} -- "$word"))` : ":";
    return `    ${short ? `-${short}|` : ""}--${name}) ${reply}; return ;;`;
  });
  return `_copilot() {
  local first= given word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  case $before in
${cases.join("\n")}
  esac
  for given in "\${COMP_WORDS[@]:0:COMP_CWORD}"; do
    [ "$given" != -- ] || return
  done
  [ "$COMP_CWORD" != 1 ] || first="${COMMAND_NAMES.join(" ")}"
  COMPREPLY=($(compgen -W "$first ${flags.map(({ name }) => `--${name}`).join(" ")}" -- "$word"))
}
complete -F _copilot copilot
`;
}

function zshScript(): string {
  const rows = flags.map(({ name, short, value, values, help }) => {
    const action = values === "folders"
      ? "_files -/"
      : values === "files"
      ? "_files"
      : values
      ? `(${values.join(" ")})`
      : " ";
    const text = help.replace(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");
    const argument = value ? `:${value}:${action}` : "";
    const names = short ? `'(-${short} --${name})'{-${short},--${name}}` : `--${name}`;
    return `  ${names}'[${text}]${argument}'`;
  });
  const command = `  '1::command:(${COMMAND_NAMES.join(" ")})'`;
  return `#compdef copilot\n_arguments -S \\\n${[command, ...rows].join(" \\\n")}\n`;
}

function fishScript(): string {
  const rows = flags.map(({ name, short, value, values, help }) => {
    const words = values === "folders"
      ? "(__fish_complete_directories)"
      : values === "files"
      ? "(__fish_complete_path)"
      : values?.join(" ");
    const argument = words ? ` -xa '${words}'` : value && " -x";
    const text = help.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
    const letter = short ? ` -s ${short}` : "";
    return `complete -c copilot -f${letter} -l ${name}${argument ?? ""} -d '${text}'\n`;
  });
  const commands = COMMANDS.map(({ name, help }) =>
    `complete -c copilot -f -n __fish_is_first_token -a ${name} -d '${help}'\n`
  );
  return [...commands, ...rows].join("");
}

export function manPage(version: string): string {
  const roff = (text: string) => text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
  const options = flags.map(({ name, short, value, optional, help }) => {
    const shown = value && (optional ? ` [\\fI${value}\\fR]` : ` \\fI${value}\\fR`);
    const names = [...(short ? [`\\-${short}`] : []), `\\-\\-${roff(name)}`];
    return `.TP\n${names.map((n) => `\\fB${n}\\fR`).join(", ")}${shown ?? ""}\n${roff(help)}.`;
  });
  return `.TH COPILOT 1 "" "copilot ${version}"
.SH NAME
copilot \\- a coding copilot for the terminal, at home with your own models
.SH SYNOPSIS
.B copilot
[\\fIflags\\fR] ["\\fIMESSAGE\\fR"]
.br
.B copilot
[\\fIflags\\fR] \\fB\\-\\-\\fR "\\fIMESSAGE\\fR"
.br
.B copilot
[\\fIflags\\fR] \\fB\\-p\\fR "\\fIPROMPT\\fR"
.br
.B copilot ${COMMAND_NAMES.join("|")}
[\\fIflags\\fR]
.SH OPTIONS
${options.join("\n")}
.SH EXIT STATUS
${EXIT_CODES.map(([code, text]) => `.TP\n${code}\n${roff(text)}`).join("\n")}
.SH ENVIRONMENT
.TP
OPENAI_API_KEY, ANTHROPIC_API_KEY
The keys of the two kinds of servers, sent over https only, and to no address with a user name.
.TP
OPENAI_BASE_URL, ANTHROPIC_BASE_URL
The addresses of such servers, where \\-\\-base\\-url does not say it.
.TP
OLLAMA_HOST
The local server's address, where \\-\\-host does not say it.
.TP
NO_COLOR
No colours.
.TP
XDG_CONFIG_HOME
Where settings are: copilot/config.json, permissions.json and AGENTS.md (~/.config).
.TP
XDG_STATE_HOME
Where what was typed is kept, in copilot/history.jsonl, and sessions, in copilot/sessions
(~/.local/state).
.SH EXAMPLES
${EXAMPLES.map((line) => `.nf\n${roff(line)}\n.fi`).join("\n")}
`;
}
