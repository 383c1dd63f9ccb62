/** Shell completions from the table of flags, as bash(1), zshcompsys(1) and fish's `complete` want them. @module */

import { COMMAND_NAMES, COMMANDS, type Flag, FLAGS } from "./args.ts";

const flags: readonly Flag[] = FLAGS;

/** Returns what completes the value of a flag, with the shell's words for folders and files. */
const completing = ({ values }: Flag, folders: string, files: string) =>
  values === "folders" ? folders : values === "files" ? files : values?.join(" ");

export const completionScript = (shell: string): string =>
  ({ bash: bashScript, zsh: zshScript, fish: fishScript })[shell as "bash"]();

function bashScript(): string {
  const cases = flags.filter(({ value }) => value).map((flag) => {
    const { name, short } = flag;
    const given = completing(flag, "-d", "-f");
    const words = Array.isArray(flag.values) ? `-W "${given}"` : given;
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
  const rows = flags.map((flag) => {
    const { name, short, value, help } = flag;
    const words = completing(flag, "_files -/", "_files") ?? " ";
    const action = Array.isArray(flag.values) ? `(${words})` : words;
    const text = help.replace(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");
    const argument = value ? `:${value}:${action}` : "";
    const names = short ? `'(-${short} --${name})'{-${short},--${name}}` : `--${name}`;
    return `  ${names}'[${text}]${argument}'`;
  });
  const command = `  '1::command:(${COMMAND_NAMES.join(" ")})'`;
  return `#compdef copilot\n_arguments -S \\\n${[command, ...rows].join(" \\\n")}\n`;
}

function fishScript(): string {
  const rows = flags.map((flag) => {
    const { name, short, value, help } = flag;
    const words = completing(flag, "(__fish_complete_directories)", "(__fish_complete_path)");
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
