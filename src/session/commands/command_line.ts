/** Lines that begin with a slash. @module */

/** Splits a line into a command's name and argument; undefined for a line that is no command. */
export function commandIn(line: string): { name: string; argument: string } | undefined {
  const [, name, argument = ""] = /^\/([a-z][\w:-]*|)(?:\s+([^]*?))?\s*$/i.exec(line) ?? [];
  return name === undefined ? undefined : { name, argument };
}
