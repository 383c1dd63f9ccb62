/** Reads HTML as browsers do, broken markup included, in time linear in its length. Pure. @module */

import { decodeEntities } from "./entities.ts";

/** A piece of a page; the text of elements that show none, such as scripts, is left out. */
export type HtmlToken =
  | { kind: "text"; text: string }
  | { kind: "open"; name: string; attributes: Attributes }
  | { kind: "close"; name: string };

/** The attributes of a tag, read when they are asked for. */
export interface Attributes {
  /** The value of the first attribute of that name; undefined where there is none. */
  get(name: string): string | undefined;
}

/** Elements whose content is no markup; that of `title` is text, that of the others is left out. */
const RAW_ELEMENTS = new Set([
  "script",
  "style",
  "textarea",
  "title",
  "iframe",
  "noembed",
  "noframes",
  "xmp",
]);

export function* htmlTokens(html: string): Generator<HtmlToken> {
  const reader = new TagReader(html);
  for (let at = 0; at < html.length;) {
    const start = nextTag(html, at);
    if (start > at) yield { kind: "text", text: decodeEntities(html.slice(at, start)) };
    if (start === html.length) return;
    const tag = reader.read(start);
    at = tag.end;
    if (tag.name === "") continue;
    if (tag.isClosing) {
      yield { kind: "close", name: tag.name };
      continue;
    }
    yield { kind: "open", name: tag.name, attributes: new TagAttributes(tag.source) };
    if (!RAW_ELEMENTS.has(tag.name)) continue;
    const end = reader.rawEnd(tag.name, at);
    if (tag.name === "title") yield { kind: "text", text: decodeEntities(html.slice(at, end)) };
    at = end;
  }
}

/** The place of the next tag or comment: a `<` before anything else is text. */
function nextTag(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at !== -1; at = html.indexOf("<", at + 1)) {
    const code = html.charCodeAt(at + 1);
    const isLetter = code >= 65 && code <= 90 || code >= 97 && code <= 122;
    if (isLetter || code === SLASH || code === 33 || code === 63) return at;
  }
  return html.length;
}

const SLASH = 47;

interface Tag {
  /** In lower case; empty for a comment and the like. */
  name: string;
  isClosing: boolean;
  /** The text between the name and the end. */
  source: string;
  end: number;
}

class TagReader {
  /** Texts that are not found any more behind the place where they were last looked for. */
  readonly #gone = new Set<string>();
  readonly #rawEnds = new Map<string, RegExp>();

  constructor(private readonly html: string) {}

  read(start: number): Tag {
    const { html } = this;
    if (html.startsWith("<!--", start)) return noTag(this.#commentEnd(start));
    const isClosing = html.charCodeAt(start + 1) === SLASH;
    TAG_NAME.lastIndex = start + (isClosing ? 2 : 1);
    const [name] = TAG_NAME.exec(html) ?? [];
    if (name === undefined) {
      // `<!doctype …>`, `<?xml …>`, `</>`
      const end = this.#find(">", start);
      return noTag(end === -1 ? html.length : end + 1);
    }
    const from = TAG_NAME.lastIndex;
    const end = this.#tagEnd(from);
    return { name: name.toLowerCase(), isClosing, source: html.slice(from, end), end: end + 1 };
  }

  /** The end of the content of an element that is no markup. */
  rawEnd(name: string, from: number): number {
    const { html } = this;
    const key = `</${name}`;
    if (this.#gone.has(key)) return html.length;
    let pattern = this.#rawEnds.get(name);
    if (!pattern) this.#rawEnds.set(name, pattern = new RegExp(`</${name}(?=[\\s/>])`, "gi"));
    pattern.lastIndex = from;
    const end = pattern.exec(html)?.index;
    if (end === undefined) this.#gone.add(key);
    return end ?? html.length;
  }

  #commentEnd(start: number): number {
    // `<!-->` and `<!--->` are whole comments.
    const short = /^<!--(?:-?>)/.exec(this.html.slice(start, start + 6));
    if (short) return start + short[0].length;
    const end = this.#find("-->", start + 4);
    return end === -1 ? this.html.length : end + 3;
  }

  /** The place of the `>` that ends a tag: one within quotes does not, as long as they end at all. */
  #tagEnd(from: number): number {
    const { html } = this;
    for (let at = from;;) {
      SIGN.lastIndex = at;
      const found = SIGN.exec(html);
      if (found === null) return html.length;
      const [sign] = found;
      at = SIGN.lastIndex;
      if (sign === ">") return at - 1;
      // A quote counts as the beginning of a value.
      const quote = sign.at(-1)!;
      const end = this.#find(quote, at);
      if (end !== -1) at = end + 1;
    }
  }

  #find(text: string, from: number): number {
    if (this.#gone.has(text)) return -1;
    const at = this.html.indexOf(text, from);
    if (at === -1) this.#gone.add(text);
    return at;
  }
}

const TAG_NAME = /[a-z][^\s/>\0]{0,63}/iy;
const SIGN = />|=\s{0,16}["']/g;

const noTag = (end: number): Tag => ({ name: "", isClosing: false, source: "", end });

/** The most characters of a tag in which attributes are looked for. */
const MAX_TAG = 65_536;
const ATTRIBUTE =
  /([^\s"'>/=\0]{1,64})(?:\s{0,16}=\s{0,16}(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/g;

class TagAttributes implements Attributes {
  #values: Map<string, string> | undefined;

  constructor(private readonly source: string) {}

  get(name: string): string | undefined {
    return this.#read().get(name);
  }

  #read(): Map<string, string> {
    if (this.#values) return this.#values;
    const values = this.#values = new Map<string, string>();
    if (!/\S/.test(this.source)) return values;
    for (const [, name, ...given] of this.source.slice(0, MAX_TAG).matchAll(ATTRIBUTE)) {
      const value = given.find((one) => one !== undefined) ?? "";
      const key = name!.toLowerCase();
      if (!values.has(key)) values.set(key, decodeEntities(value));
    }
    return values;
  }
}
