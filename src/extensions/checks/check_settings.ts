/** The setting `"checks"` of `config.json`. @module */

import { isObject } from "../../text/json.ts";

/** False for no checks; otherwise by name, false for one that is off, or a command for certain files. */
export type CheckSettings =
  | false
  | Readonly<Record<string, false | { files: string; command: string }>>;

/** Returns why `value` cannot be used; undefined if it can. */
export function checksFault(value: unknown): string | undefined {
  if (value === false) return undefined;
  const isRight = isObject(value) &&
    Object.values(value).every((one) =>
      one === false ||
      isObject(one) && typeof one.files === "string" && typeof one.command === "string"
    );
  return isRight
    ? undefined
    : 'must be false, or like {"tsc": false, "eslint": {"files": "*.ts", "command": "eslint {}"}}';
}
