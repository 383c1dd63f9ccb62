/** Formats a number with its noun: "1 file", "2 files". */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n} ${n === 1 ? one : many}`;

/** Formats a duration: `3 ms`, `1.2 s`. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Formats a rough duration: `40 s`, `5 min`. */
export const aboutSeconds = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;

/** Formats a duration in minutes and seconds: `60:05`. */
export function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
}

const AGES = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000]] as const;

/** Formats the time since `time`, in milliseconds since 1970: `3 hours ago`, `just now`. */
export function ago(time: number, now = Date.now()): string {
  const [unit, ms] = AGES.find(([, ms]) => now - time >= ms) ?? [];
  return unit === undefined ? "just now" : `${count(Math.floor((now - time) / ms!), unit)} ago`;
}

/** Shortens a number: `999`, `2.8k`. */
export const thousands = (n: number): string => n < 1000 ? `${n}` : `${(n / 1000).toFixed(1)}k`;

/** Shortens the size of a context, in tokens: `32k` for 32768, `200k` for 200000. */
export const windowText = (n: number): string =>
  n < 1000 ? `${n}` : `${Math.round(n / (n % 1024 === 0 ? 1024 : 1000))}k`;

/** Formats an amount of US dollars, such as `$0.0042` and `$1.20`. */
export const dollars = (amount: number): string => `$${amount.toFixed(amount < 0.1 ? 4 : 2)}`;

/** The average number of characters per token, for estimates. */
export const CHARS_PER_TOKEN = 4;

export const aboutTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);
