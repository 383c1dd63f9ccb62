/** The forms of well-known credentials. @module */

/** The forms of tokens, as the source of a regular expression. */
export const CREDENTIAL_FORMS =
  "(?:sk|pk|rk)[-_][\\w-]{16,}|(?:gh[opsru]|npm|hf|github_pat|gl(?:pa|r|d|cb)t|xox[abeprs]|AIza)[-_\\w]{20,}|(?:gsk|xai|nvapi|pplx|tvly|r8|dckr_pat|lin_api|ntn|shpat|whsec|glsa|sbp)[-_][\\w-]{20,}|hvs\\.[\\w-]{20,}|LS0tLS1CRUdJTi[\\w+/]{20,}={0,2}|(?:AKIA|ASIA)[A-Z\\d]{16}|SG\\.[\\w-]{16,}\\.[\\w-]{16,}|do[opr]_v1_\\w{20,}|pypi-AgE[\\w-]{16,}|xapp-\\d[\\w-]{16,}|AGE-SECRET-KEY-1[A-Z\\d]{16,}|ya29\\.[\\w-]{20,}|eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*";

/** The names of settings whose values are credentials, in the same way. */
export const CREDENTIAL_NAMES =
  "(?:passw(?:or)?d|passphrase|[_-]pass(?![a-z])|pwd|secret|token|(?:account|access|api|private|signing)[_-]?key)";

const PRIVATE_KEY =
  /-----BEGIN [^\n-]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:(?!-----)[^]){0,20000}-{5,6}END [^\n-]{0,40}-----|[\s\w+/=\\:,.-]*)/g;

/** Replaces what looks like a credential in `text` with `[redacted]`: tokens, settings, each line of keys. */
export function hideCredentials(text: string): string {
  const hidden = "[redacted]";
  const name = `${CREDENTIAL_NAMES}(?!s)[\\w-]{0,40}\\\\{0,3}["']?\\s{0,9}`;
  const word = "[^\\s\"'`&;,()<>]";
  const named = [
    // In an environment, in JSON and code, in YAML. A variable that code passes on is not a value.
    `(${name}[:=]{1,2}>?\\s{0,9}(\\\\{0,3}["'\`]))(?!\\[redacted)(?:(?!\\2)[^\\n]){4,2000}(?=\\2)`,
    `(${name}=["']?)(?!\\[redacted)(?:${word}{4,2000}(?=["'\`\\s&;]|$)|(?=${word}{0,200}\\d)${word}{6,2000})`,
    `(${name}[:=][ \\t]{1,9})(?=\\S{0,200}\\d)[^\\s"'\`,;()<>\\[]{6,2000}(?=[\\s"'\`]|$)`,
    `(<[\\w.:-]{0,40}${CREDENTIAL_NAMES}(?!s)[\\w-]{0,40}>)(?!\\[redacted)[^\\n<>]{4,2000}(?=</)`,
    // In headers and the options of commands.
    `((?:--[\\w-]{0,20}${CREDENTIAL_NAMES}(?!s)[\\w-]{0,40}[ \\t]|\\bx-[\\w-]{0,20}(?:key|token):|\\bauthorization["']?:[ \\t]{0,9}["']?\\w{1,20}[ \\t])[ \\t]{0,9}["']?)(?![[{$])(?:${word}{8,2000}|(?=${word}{0,200}\\d)${word}{4,2000})`,
    "(\\bcurl\\b[^]{0,200}?[ \\t](?:-[a-z]{0,5}u|--user)[ =]?[\"']?[^\\s:\"'$[]{1,64}:)(?![[{$])[^\\s\"'`]{1,2000}",
    "(://[^\\s/@:\"'$]{0,64}:)(?![[{$])[^\\s/@\"'`]{1,200}(?=@)",
    "(\\b(?:bearer|basic)\\s{1,9})[\\w.~+/=-]{12,}",
    "(\\b(?:hooks\\.slack\\.com/\\w{1,20}/|discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{1,30}/))[\\w/-]{8,2000}",
    // Of docker and .netrc.
    '("auth\\\\?"\\s{0,9}:\\s{0,9}\\\\?")(?=[\\w+/-]{0,2000}[\\d=])[\\w+/=-]{8,2000}(?=\\\\?")',
    "(\\bmachine\\s{1,9}\\S{1,200}\\s{1,9}login\\s{1,9}\\S{1,64}\\s{1,9}password\\s{1,9})(?!\\[redacted)\\S{1,200}",
    "(\\bsshpass\\b[^\\n]{0,40}?[ \\t]-p[ \\t]?[\"']?)(?![[{$])[^\\s\"'`]{1,2000}",
  ];
  const keyless = text.replace(PRIVATE_KEY, (key) => key.replace(/.+/g, hidden))
    .replace(new RegExp(`(?<!\\w|[^\\n]-)(?:${CREDENTIAL_FORMS})`, "g"), hidden);
  const hide = (rest: string, form: string) => rest.replace(new RegExp(form, "gim"), `$1${hidden}`);
  return named.reduce(hide, keyless);
}
