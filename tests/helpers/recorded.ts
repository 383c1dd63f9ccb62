/** Recorded answers of real servers: a status line, headers, a blank line, the body. */

const FOLDER = new URL("../fixtures/wire/", import.meta.url);

/** The answer recorded as `name`. */
export function recorded(name: string): { head: string; body: Uint8Array; text: string } {
  const bytes = Deno.readFileSync(new URL(`${name}.txt`, FOLDER));
  const latin1 = new TextDecoder("latin1").decode(bytes);
  const start = latin1.indexOf("\r\n\r\n") + 4;
  const body = bytes.slice(start);
  return { head: latin1.slice(0, start), body, text: new TextDecoder().decode(body) };
}
