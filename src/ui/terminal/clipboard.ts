/** The terminal's clipboard, which OSC 52 sets, also through SSH. @module */

/** The most bytes: 100,000 characters of base64, the lowest known limit of a terminal. */
export const MAX_COPY_BYTES = 74_994;

export type Copied = "sent" | "sent_to_tmux" | "too_large" | "unsupported";

/** The sequence that puts `text` into the clipboard, or an empty one. */
export function clipboardSequence(
  text: string,
  env: { get(name: string): string | undefined } = Deno.env,
): { copied: Copied; sequence: string } {
  const bytes = new TextEncoder().encode(text);
  const isKnownNot = env.get("TERM") === "linux" || env.get("TERM_PROGRAM") === "Apple_Terminal";
  if (isKnownNot) return { copied: "unsupported", sequence: "" };
  if (bytes.length > MAX_COPY_BYTES) return { copied: "too_large", sequence: "" };
  const copied = env.get("TMUX") ? "sent_to_tmux" : "sent";
  return { copied, sequence: `\x1b]52;c;${bytes.toBase64()}\x07` };
}
