/**
 * What may be shown of a text that a server sent: one short line, without control characters and
 * without the keys that it may echo.
 *
 * @module
 */

/** The most characters of a server's text in an error line. */
const MAX_SHOWN = 200;

/** `text` as one line of at most 200 characters that a terminal takes for nothing but text. */
export function excerpt(text: string): string {
  const line = text.slice(0, 50 * MAX_SHOWN).toWellFormed()
    // Whole colour and cursor sequences first: of the rest only the introducer has to go.
    // deno-lint-ignore no-control-regex
    .replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g, "")
    // Format characters can turn the direction of a line or hide parts of it.
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  if (line.length <= MAX_SHOWN) return line;
  // The cut may not halve a surrogate pair.
  return `${line.slice(0, MAX_SHOWN - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Headers that hold no secret; every other one may. */
const PUBLIC_HEADERS = /^(content-type|accept|user-agent|anthropic-version|anthropic-beta)$/i;

/** The secrets among a request's headers: keys, without the scheme in front of them. */
export function secretsOf(headers: Record<string, string>): string[] {
  return Object.entries(headers)
    .filter(([name]) => !PUBLIC_HEADERS.test(name))
    .map(([, value]) => value.slice(value.lastIndexOf(" ") + 1))
    // A key this short is a placeholder such as `x` or `none`: hiding it would garble the text.
    .filter((secret) => secret.length >= 6);
}

/**
 * Replaces what starts as a secret does (so that a key cut short is found too) by `[redacted]`:
 * the secret itself, percent-encoded, or anywhere within a run of base64.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const starts = secrets.map((secret) => secret.slice(0, 12));
  if (starts.length === 0) return text;
  const shown = starts.flatMap((start) => [start, encodeURIComponent(start)]);
  return text
    .replace(
      new RegExp(`(?:${shown.map(RegExp.escape).join("|")})[^\\s"'<>,;&\\\\]*`, "g"),
      "[redacted]",
    )
    .replace(/[\w+/-]{8,}={0,2}/g, (run) => hides(run, starts) ? "[redacted]" : run);
}

/** True when `run`, read as base64 from any of its first four characters, has one of `starts` in it. */
function hides(run: string, starts: readonly string[]): boolean {
  const code = run.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return [0, 1, 2, 3].some((skip) => {
    const whole = code.slice(skip);
    const bytes = atob(whole.slice(0, whole.length - (whole.length % 4 === 1 ? 1 : 0)));
    return starts.some((start) => bytes.includes(start));
  });
}
