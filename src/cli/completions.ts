/** Shell completions from the table of flags, as bash(1), zshcompsys(1) and fish's `complete` want them. @module */

import { COMMAND_NAMES, COMMANDS, type Flag, FLAGS } from "./args.ts";
import { UsageError } from "../errors.ts";

const flags: readonly Flag[] = FLAGS;

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
