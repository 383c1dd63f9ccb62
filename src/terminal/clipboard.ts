/** The terminal's clipboard, which OSC 52 sets: through SSH, too, unlike a program of this machine. @module */

/** The most bytes: of 100 000 characters of base64, the least limit that is known of a terminal. */
export const MAX_COPY_BYTES = 74_994;

/** What became of a text: no terminal answers whether it took one. */
export type Copied = "sent" | "sent_to_tmux" | "too_large" | "unsupported";

/** The sequence that puts `text` into the clipboard, where this terminal may take it. */
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
