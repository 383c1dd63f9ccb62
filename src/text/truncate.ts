/**
 * Bounds a text by leaving out its middle, which a notice stands in for where it fits.
 *
 * @param maxChars The most UTF-16 units of the result, the notice included.
 * @param notice What stands in for the units left out, given how many they are.
 * @returns `text` itself where it fits, else a text in which no surrogate pair is cut in two.
 */
export function truncateMiddle(
  text: string,
  maxChars: number,
  notice: (cutChars: number) => string = leftOut,
): string {
  if (text.length <= maxChars) return text;
  // More is never cut than all of it, so no notice has more digits than this one.
  const room = maxChars - notice(text.length).length;
  const head = wholeUpTo(text, room < 0 ? maxChars : Math.ceil(room / 2));
  if (room < 0) return text.slice(0, head);
  const tail = wholeFrom(text, text.length - Math.floor(room / 2));
  return text.slice(0, head) + notice(tail - head) + text.slice(tail);
}

const leftOut = (cutChars: number) => `\n[... ${cutChars} characters left out ...]\n`;

/** `end`, or one less where that would cut a surrogate pair in two. */
export function wholeUpTo(text: string, end: number): number {
  return splitsPair(text, end) ? end - 1 : end;
}

function wholeFrom(text: string, start: number): number {
  return splitsPair(text, start) ? start + 1 : start;
}

function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
