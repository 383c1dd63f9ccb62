/** The arguments of a call that the model is writing. @module */

import { jsonOrUndefined } from "../../../text/json.ts";
import { WRITTEN_ARGUMENTS } from "../../../tools/definition.ts";

/** The maximum number of characters of an argument that is not the text of a file. */
const MAX_VALUE_CHARS = 1000;
const JSON_TOKEN = /"([^"\\]*(?:\\[^][^"\\]*)*)(?:"|\\?$)|[{}[\]:,]/g;

/** Reads the texts among the arguments in JSON that ends anywhere. Never throws. */
export function writtenArguments(json: string): Record<string, string> {
  const args: Record<string, string> = Object.create(null);
  let depth = 0;
  let key = "";
  let isValue = false;
  for (const [token, text] of json.matchAll(JSON_TOKEN)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth !== 1) continue;
    else if (text === undefined) isValue = token === ":";
    else if (!isValue) key = stringText(text);
    else if (WRITTEN_ARGUMENTS.includes(key)) args[key] = stringText(text);
    else args[key] = stringText(text.slice(0, MAX_VALUE_CHARS));
  }
  return args;
}

/** The text of a string in JSON, without a part of an escape sequence at its end. */
function stringText(string: string): string {
  const whole = string.replace(/(?<!\\)(\\\\)*\\(?:u[\da-f]{0,3})?$/i, "$1");
  return String(jsonOrUndefined(`"${whole}"`) ?? string);
}

/** The text of the file that a call writes. */
export const writtenText = (args: Record<string, string>): string | undefined =>
  Object.entries(args).findLast(([name]) => WRITTEN_ARGUMENTS.includes(name))?.[1];
