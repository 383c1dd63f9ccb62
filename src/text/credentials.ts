/** The forms of well-known credentials. @module */

/** The forms of tokens, as the source of a regular expression. */
export const CREDENTIAL_FORMS =
  "(?:sk|pk|rk)[-_][\\w-]{16,}|(?:gh[opsru]|npm|hf|github_pat|glpat|xox[abeprs]|AIza)[-_\\w]{20,}|(?:AKIA|ASIA)[A-Z\\d]{16}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*";

/** The names of settings whose values are credentials, in the same way. */
export const CREDENTIAL_NAMES = "(?:passw(?:or)?d|pwd|secret|token|(?:account|access|api)_?key)";

/** Replaces what looks like a credential in `text` with `[redacted]`: tokens, settings, keys. */
export function hideCredentials(text: string): string {
  const hidden = "[redacted]";
  const name = `${CREDENTIAL_NAMES}(?!s)[\\w-]{0,40}["']?\\s{0,9}`;
  const word = "[^\\s\"'`&;,()<>]";
  const named = [
    // In an environment, in JSON and code, in YAML. A variable that code passes on is not a value.
    `(${name}=["']?)(?!\\[redacted)(?:${word}{4,2000}(?=["'\`\\s&;]|$)|(?=${word}{0,200}\\d)${word}{6,2000})`,
    `(${name}[:=]\\s{0,9}(["']))(?!\\[redacted)(?:(?!\\2)[^\\n]){4,2000}(?=\\2)`,
    `(${name}:[ \\t]{1,9})(?=\\S{0,200}\\d)[^\\s"'\`,;()<>\\[]{6,2000}(?=\\s|$)`,
    "(\\b(?:bearer|basic)\\s{1,9})[\\w.~+/=-]{12,}",
  ];
  return named.reduce(
    (rest, form) => rest.replace(new RegExp(form, "gim"), `$1${hidden}`),
    text
      .replace(
        /-----BEGIN [^-\n]{0,40}PRIVATE KEY-----(?:[^-]*-----END [^-\n]{0,40}-----|[\s\w+/=\\]*)/g,
        hidden,
      )
      .replace(new RegExp(`(?<![\\w-])(?:${CREDENTIAL_FORMS})`, "g"), hidden),
  );
}
