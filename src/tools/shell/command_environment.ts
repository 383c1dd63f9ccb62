/** The environment of commands. @module */

import { API_KEY_ENVS } from "../../config.ts";
import { programFolders } from "./find_program.ts";

/** Variables that keep programs from waiting for a person and from drawing on a terminal. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  SSH_ASKPASS_REQUIRE: "never",
  // gpg would ask for the passphrase on the terminal that this names.
  GPG_TTY: "",
};

/** Names of variables that hold credentials: a model must not read them out (SEC-01). */
const CREDENTIAL =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|_PASS$|.PWD$|_PAT$|CRED|AUTH(?!OR(?!IZ))|COOKIE|PRIVATE|DATABASE_URL/i;
/** Names that only look like it: where the shell was, an agent or a display listens. */
const HARMLESS = new Set(["OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY"]);
/** Values that are credentials whatever their name: of well-known kinds, and addresses with a password. */
const SECRET =
  /^(sk|pk|rk)[-_][\w-]{16}|^(gh[opsru]|npm|hf|github_pat|glpat|xox[abeprs]|AIza)[-_\w]{20}|^(AKIA|ASIA)[A-Z\d]{16}|^eyJ[\w-]+\.[\w-]+\.|^-----BEGIN .*PRIVATE KEY|(^|:\/\/)[^\s/@]*:[^\s/@]+@|^https?:\/\/[^\s/@]+@/;

/**
 * Our environment with what keeps commands from asking, and without credentials but for those
 * `named` by a person, as names or beginnings such as `AWS_*`.
 */
export function commandEnvironment(
  named: readonly string[] = [],
  ours: Readonly<Record<string, string>> = Deno.env.toObject(),
): Record<string, string> {
  // No command gets the key of a backend, nor a variable of the same value. A short value is no
  // key: local servers are often given a word.
  const keys = new Set(
    API_KEY_ENVS.map((name) => ours[name]).filter((key) => key && key.length >= 16),
  );
  const isNamed = (name: string) =>
    named.some((one) => one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one);
  const passes = ([name, value]: [string, string]) =>
    !API_KEY_ENVS.includes(name) && !keys.has(value) &&
    (HARMLESS.has(name) || isNamed(name) || !(CREDENTIAL.test(name) || SECRET.test(value)));
  return {
    ...Object.fromEntries(Object.entries(ours).filter(passes)),
    ...ENVIRONMENT,
    // A relative entry would find programs in whatever folder a command runs.
    ...(Deno.build.os !== "windows" && { PATH: programFolders().join(":") }),
  };
}
