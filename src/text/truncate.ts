/**
 * Bounds a text by replacing its middle with a notice; without one where the notice does not fit.
 *
 * @param maxChars The most UTF-16 units of the result, the notice included.
 * @param notice The notice, given the number of units left out.
 * @returns `text` itself where it fits, else a text in which no surrogate pair is cut in two.
 */
export function truncateMiddle(
  text: string,
  maxChars: number,
  notice: (cutChars: number) => string = omissionNotice,
): string {
  if (text.length <= maxChars) return text;
  // No notice is longer than the one for the whole text.
  const room = maxChars - notice(text.length).length;
  const head = wholeUpTo(text, room < 0 ? maxChars : Math.ceil(room / 2));
  if (room < 0) return text.slice(0, head);
  const tail = wholeFrom(text, text.length - Math.floor(room / 2));
  return text.slice(0, head) + notice(tail - head) + text.slice(tail);
}

const omissionNotice = (cutChars: number) => `\n[... ${cutChars} characters left out ...]\n`;

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
