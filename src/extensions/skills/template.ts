/** Templates of commands: the places of arguments and of commands in their text. Pure. @module */

/** A piece of a template. `command` runs, and its output replaces it. */
export type TemplatePiece = { text: string } | { command: string };

const PLACEHOLDER = /!`([^`\n]+)`|\$ARGUMENTS|\$([1-9])(?!\d)/g;

/**
 * Splits `body` into pieces, with `argument` for `$ARGUMENTS`, and its words for `$1` to `$9`. Without a
 * placeholder, the argument is appended. Placeholders within an argument are not expanded.
 *
 * @throws {TypeError} if a command would contain an argument that a shell does not read as one plain word.
 */
export function fillTemplate(body: string, argument: string): TemplatePiece[] {
  const words = argumentWords(argument);
  const pieces: TemplatePiece[] = [];
  let isUsed = false;
  const valueOf = (placeholder: string, digit: string | undefined) => {
    isUsed = true;
    return digit === undefined && placeholder === "$ARGUMENTS"
      ? argument
      : words[Number(digit) - 1] ?? "";
  };
  let from = 0;
  for (const found of body.matchAll(PLACEHOLDER)) {
    const [whole, command, digit] = found;
    if (found.index > from) pieces.push({ text: body.slice(from, found.index) });
    from = found.index + whole.length;
    if (command === undefined) pieces.push({ text: valueOf(whole, digit) });
    else pieces.push({ command: filledCommand(command, valueOf) });
  }
  pieces.push({ text: body.slice(from) });
  if (!isUsed && argument !== "") pieces.push({ text: `\n\n${argument}` });
  return pieces;
}

function filledCommand(
  command: string,
  valueOf: (placeholder: string, digit: string | undefined) => string,
): string {
  return command.replace(/\$ARGUMENTS|\$([1-9])(?!\d)/g, (placeholder, digit) => {
    const value = valueOf(placeholder, digit);
    // Without a special meaning anywhere in a shell command.
    if (/^[\p{L}\p{N}_@%+=:,./ -]*$/u.test(value)) return value;
    throw new TypeError(
      `Cannot run \`${command}\` as ${placeholder} must be plain words: current value is ${
        JSON.stringify(value)
      }`,
    );
  });
}

/** Splits an argument into words; quotes join some of them. */
export function argumentWords(argument: string): string[] {
  return Array.from(
    argument.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}
