/** The setting `"checks"` of `config.json`. @module */

import { didYouMean } from "../../text/nearest.ts";
import { isObject } from "../../text/json.ts";

/** False for no checks; otherwise by name, false for one that is off, or a command for certain files. */
export type CheckSettings =
  | false
  | Readonly<Record<string, false | { files: string; command: string }>>;

export const CHECK_NAMES = [
  ...["deno check", "tsc", "node --check", "python3", "ruff", "pyright", "cargo check", "go vet"],
  ...["gofmt", "cc", "shellcheck", "bash -n", "php -l", "ruby -c", "javac"],
];

/** Returns why `value` cannot be used; undefined if it can. */
export function checksFault(value: unknown): string | undefined {
  if (value === false) return undefined;
  const isRight = isObject(value) && Object.values(value).every((one) =>
    one === false ||
    isObject(one) && typeof one.files === "string" && typeof one.command === "string"
  );
  if (!isRight) {
    return 'must be false, or like {"tsc": false, "eslint": {"files": "*.ts", "command": "eslint {}"}}';
  }
  const off = Object.keys(value).filter((name) => value[name] === false);
  const wrong = off.find((name) => !CHECK_NAMES.includes(name));
  if (wrong === undefined) return undefined;
  const names = `there are ${CHECK_NAMES.join(", ")}`;
  return `turns off ${JSON.stringify(wrong)}: ${
    didYouMean(wrong, CHECK_NAMES, names, JSON.stringify)
  }`;
}
