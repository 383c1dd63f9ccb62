/** Excerpts of external texts: one short line without control characters or secrets. @module */

const MAX_EXCERPT = 200;
/** Any piece of a secret with at least this many characters is hidden, wherever it was cut. */
const PIECE = 8;
/** A secret this short is a placeholder such as `x`. Hiding it would garble the text. */
const MIN_SECRET = 6;
/** The number of recently used secrets to remember: enough for all servers of a process. */
const MAX_SECRETS = 32;

const secrets = new Set<string>();

/** Returns `text` as one line of at most 200 characters that is safe to show on a terminal. */
export function excerpt(text: string): string {
  const line = redactedLine(text);
  if (line.length <= MAX_EXCERPT) return line;
  // The cut must not split a surrogate pair.
  return `${line.slice(0, MAX_EXCERPT - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Returns `text` as one line of at most 10,000 characters, without control characters or secrets. */
export function redactedLine(text: string): string {
  return redacted(/^[!-~]{0,200}$/.test(text) ? text : foldedLine(text));
}

function foldedLine(text: string): string {
  return text.slice(0, 50 * MAX_EXCERPT).toWellFormed()
    // Colour and cursor sequences go as a whole, of all others only the introducer.
    // deno-lint-ignore no-control-regex
    .replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g, "")
    // Format characters can change the direction of a line or hide parts of it.
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
}

/** Headers without secrets. Any other header may contain one. */
const PUBLIC_HEADERS = /^(content-type|accept|user-agent|anthropic-version|anthropic-beta)$/i;

/** Remembers the secrets among a request's headers, so that {@linkcode excerpt} hides them. */
export function keepSecrets(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (PUBLIC_HEADERS.test(name)) continue;
    const secret = value.slice(value.lastIndexOf(" ") + 1);
    rememberSecret(secret);
    if (!/^basic /i.test(value)) continue;
    const [user = "", ...password] = atob(secret).split(":");
    // Some servers accept a key as the user name, without a password.
    rememberSecret(password.join(":") || user);
  }
}

function rememberSecret(secret: string): void {
  if (secret.length < MIN_SECRET) return;
  // Deleting it first makes it the most recent one.
  secrets.delete(secret);
  secrets.add(secret);
  if (secrets.size > MAX_SECRETS) secrets.delete(secrets.values().next().value!);
}

/** One character, plain or encoded as in URLs, JSON and HTML. */
const WRITTEN_CHARACTER =
  /%[\da-f]{2}|\\u[\da-f]{4}|&#(?:x[\da-f]{1,4}|\d{1,5});|&(?:amp|lt|gt|quot|apos);|\\[^]|[^]/gi;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Replaces each piece of a secret, plain or in base64, with `[redacted]`. */
export function redacted(text: string): string {
  if (secrets.size === 0) return text;
  const written = text.match(WRITTEN_CHARACTER) ?? [];
  const plain = written.map(characterOf).join("");
  const hidden = new Uint8Array(plain.length);
  for (const secret of secrets) {
    const size = Math.min(PIECE, secret.length);
    const pieces = new Set<string>();
    for (let i = 0; i + size <= secret.length; i++) pieces.add(secret.slice(i, i + size));
    const has = (from: string, i: number) => pieces.has(from.slice(i, i + size));
    for (let i = 0; i < plain.length; i++) if (has(plain, i)) hidden.fill(1, i, i + size);
    for (const { 0: run, index } of plain.matchAll(/[\w+/-]{8,}={0,2}/g)) {
      const inside = decodings(run).some((bytes) => [...bytes].some((_, i) => has(bytes, i)));
      if (inside) hidden.fill(1, index, index + run.length);
    }
  }
  return written.map((as, i) => !hidden[i] ? as : hidden[i - 1] ? "" : "[redacted]").join("");
}

/** Returns the UTF-16 unit that `written` encodes. */
function characterOf(written: string): string {
  if (written.length === 1) return written;
  const digits = /^(?:%|\\u|&#x)([\da-f]+)/i.exec(written)?.[1];
  if (digits !== undefined) return String.fromCharCode(parseInt(digits, 16));
  if (written.startsWith("&#")) return String.fromCharCode(parseInt(written.slice(2), 10));
  return ENTITIES[written.slice(1, -1).toLowerCase()] ?? written.slice(1);
}

/** Decodes `run` as base64, starting at each of its first four characters. */
function decodings(run: string): string[] {
  const code = run.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return [0, 1, 2, 3].map((skip) => {
    const whole = code.slice(skip);
    return atob(whole.slice(0, whole.length - (whole.length % 4 === 1 ? 1 : 0)));
  });
}
