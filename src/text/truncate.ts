/** Limits a text to `maxChars` units. A notice of how many were removed is in its middle, if it fits. */
export function truncateMiddle(
  text: string,
  maxChars: number,
  notice = (cutChars: number): string => `\n[... ${cutChars} characters left out ...]\n`,
): string {
  if (text.length <= maxChars) return text;
  // No notice is longer than the one for the whole text.
  const room = maxChars - notice(text.length).length;
  const head = wholeUpTo(text, room < 0 ? maxChars : Math.ceil(room / 2));
  if (room < 0) return text.slice(0, head);
  const end = text.length - Math.floor(room / 2);
  const tail = splitsPair(text, end) ? end + 1 : end;
  return text.slice(0, head) + notice(tail - head) + text.slice(tail);
}

/** Returns `end`, or one less if it would split a surrogate pair. */
export function wholeUpTo(text: string, end: number): number {
  return splitsPair(text, end) ? end - 1 : end;
}

function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
