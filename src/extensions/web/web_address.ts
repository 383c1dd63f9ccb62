/** The addresses of web pages, as models write them. @module */

const MAX_ADDRESS_CHARS = 2000;

/**
 * Returns the normalized address of a page: host in lower case and as ASCII, numbers as dotted addresses, no dot at its
 * end, no fragment. It is the one that is approved and fetched. Without a scheme it is `https://`.
 *
 * @throws {Error} for the model, if it is not a web address.
 */
export function webAddress(text: string): URL {
  const given = text.trim();
  const url = URL.parse(/^[a-z][a-z\d+.-]*:(?!\d)/i.test(given) ? given : `https://${given}`);
  const wrong = (why: string) => new Error(`The address was not fetched: ${why}.`);
  if (given === "" || given.length > MAX_ADDRESS_CHARS) {
    throw wrong(`it must have 1 to ${MAX_ADDRESS_CHARS} characters`);
  }
  if (!url) throw wrong("it is not an address: write such as https://example.org/page");
  if (!/^https?:$/.test(url.protocol)) throw wrong("only addresses with http:// and https:// are");
  if (url.username !== "" || url.password !== "") {
    throw wrong("it contains a user name or a password, which is not sent");
  }
  url.hash = "";
  const host = url.hostname.replace(/\.+$/, "");
  if (host === "") throw wrong("it names no host");
  url.hostname = host;
  return url;
}
