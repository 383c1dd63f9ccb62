/**
 * Converts a web page to text for a model: Markdown with its headings, lists, tables, code and links, without
 * layout and navigation. Takes time linear in the length of the page. Pure.
 *
 * @module
 */

import { wholeUpTo } from "../truncate.ts";
import { LineWriter } from "./line_writer.ts";
import { PageTable } from "./table.ts";
import { type Attributes, type HtmlToken, htmlTokens } from "./tokens.ts";

/** The maximum characters of a page's text: more than any model reads. */
const MAX_PAGE_TEXT = 1_000_000;
/** The minimum characters of the main part of a page. */
const MIN_PART_TEXT = 200;
/** The maximum characters of a link's address, and of an image's description. */
const MAX_LINK = 300;
const MAX_ALT = 200;

/**
 * Returns the text of a page at `base`: its marked main part; otherwise all but navigation and footers; or
 * everything if that is too short. Links within the site start with `/`.
 */
export function htmlText(html: string, base?: URL) {
  const hasMain = /<main[\s>]|\brole\s{0,8}=\s{0,8}["']?main\b/i.test(html);
  const parts: PagePart[] = hasMain ? ["main", "content"] : ["content"];
  for (const part of parts) {
    const found = new PageReader(part, base).read(html);
    if (found.text.length >= MIN_PART_TEXT) return found;
  }
  return new PageReader("all", base).read(html);
}

type PagePart = "main" | "content" | "all";

/** Elements without an end tag. */
const VOID = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);
/** Elements without readable text. */
const UNREAD = new Set(
  "audio button canvas datalist map object select svg template video".split(" "),
);
/** Elements around the main part of a page. */
const FRAME = new Set(["nav", "footer", "aside"]);
/** Elements with an empty line around them. */
const SPACED_BLOCKS = new Set(
  "article aside blockquote dl h1 h2 h3 h4 h5 h6 hr ol p pre section table ul".split(" "),
);
const BLOCK_ELEMENTS = new Set([
  ...SPACED_BLOCKS,
  ...("address body caption center dd details div dt fieldset figcaption figure footer form head header " +
    "hgroup html legend li main nav option summary tbody tfoot thead tr").split(" "),
]);
const CODE_ELEMENTS = new Set(["code", "kbd", "samp", "tt"]);
/** Invisible characters between others. */
const UNSEEN = /[\u00ad\u200b\u2060\ufeff]/g;
/** Cells and spans with the line numbers of code. */
const LINE_NUMBERS = /(?:^|\s)(?:linenos?|gutter|line-?numbers?)(?:\s|$)/i;
/** The text of links from a heading to itself. */
const ANCHORS = ["¶", "#", "§", "🔗", ""];

type OpenElement = { name: string; depth: number };

class PageReader {
  readonly #out = new LineWriter();
  readonly #tables: PageTable[] = [];
  /** The element to skip, or outside of which to skip everything, and the number of open elements of that name in it. */
  #skipped: OpenElement | undefined;
  #main: OpenElement | undefined;
  #title: string[] = [];
  #inTitle = false;
  #pre: { pieces: string[]; language: string } | undefined;
  #link: { at: ReturnType<LineWriter["mark"]>; address: string | undefined } | undefined;
  #code: ReturnType<LineWriter["mark"]> | undefined;
  #cell: ReturnType<LineWriter["mark"]> | undefined;
  #isRaised = false;

  constructor(private readonly part: PagePart, private base: URL | undefined) {}

  read(html: string) {
    for (const token of htmlTokens(html)) {
      if (this.#take(token) === "end") break;
      if (this.#out.length > MAX_PAGE_TEXT) break;
    }
    if (this.#pre) this.#closePre();
    while (this.#tables.length > 0) this.#closeTable();
    this.#out.endLine();
    const text = this.#out.toString();
    return {
      title: this.#title.join("").replace(/\s+/g, " ").trim(),
      text: text.slice(0, wholeUpTo(text, MAX_PAGE_TEXT)),
    };
  }

  #take(token: HtmlToken): "end" | void {
    if (token.kind === "text") {
      if (this.#inTitle) this.#title.push(token.text);
      else if (!this.#skipped && (this.part !== "main" || this.#main)) this.#text(token.text);
      return;
    }
    const { name } = token;
    if (name === "title") {
      // The title of a drawing is not the title of the page.
      this.#inTitle = token.kind === "open" && !this.#skipped && this.#title.length === 0;
      return;
    }
    if (this.#skipped) return this.#skip(token, this.#skipped);
    if (this.part === "main" && !this.#main) return this.#findMain(token);
    if (this.#main?.name === name) {
      this.#main.depth += token.kind === "open" ? 1 : -1;
      if (this.#main.depth === 0) return "end";
    }
    if (token.kind === "close") return this.#close(name);
    if (!VOID.has(name) && this.#isUnread(name, token.attributes)) {
      this.#skipped = { name, depth: 1 };
      if (BLOCK_ELEMENTS.has(name)) this.#break(false);
    } else this.#open(name, token.attributes);
  }

  #skip(token: HtmlToken & { name: string }, skipped: OpenElement): "end" | void {
    const { kind, name } = token;
    if (name !== skipped.name) return;
    // A paragraph or an item ends at the next one.
    const isNext = kind === "open" && /^(p|li|td|th|tr|dt|dd)$/.test(name);
    skipped.depth += kind === "open" && !isNext ? 1 : -1;
    if (skipped.depth > 0) return;
    this.#skipped = undefined;
    if (isNext) return this.#take(token);
  }

  #findMain(token: HtmlToken & { name: string }): void {
    if (token.kind !== "open") return;
    const { name, attributes } = token;
    if (name === "base") this.#open(name, attributes);
    const isMain = name === "main" || attributes.get("role") === "main";
    if (isMain && !VOID.has(name)) this.#main = { name, depth: 1 };
  }

  #isUnread(name: string, attributes: Attributes): boolean {
    if (name === "body" || name === "html") return false;
    if (UNREAD.has(name) || this.part !== "all" && FRAME.has(name)) return true;
    if (name === "math") {
      const formula = attributes.get("alttext");
      if (formula) this.#text(`$${formula}$`);
      return formula !== undefined;
    }
    const isNumbers = (name === "td" || name === "span") &&
      LINE_NUMBERS.test(attributes.get("class") ?? "");
    return isNumbers || attributes.get("hidden") !== undefined ||
      attributes.get("aria-hidden") === "true" ||
      /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(
        attributes.get("style") ?? "",
      );
  }

  #text(given: string): void {
    const text = given.replace(UNSEEN, "");
    if (this.#pre) {
      this.#pre.pieces.push(text);
      this.#out.length += text.length;
      return;
    }
    // Raised text is a power, or a reference in brackets.
    const isPower = this.#isRaised && /^[\w+-]/.test(text);
    this.#isRaised = false;
    this.#out.text(isPower ? `^${text}` : text);
  }

  #open(name: string, attributes: Attributes): void {
    if (this.#pre) return this.#openInPre(name, attributes);
    if (name === "td" || name === "th" || name === "tr") return this.#openCell(name, attributes);
    if (/^(table|pre|h[1-6])$/.test(name)) this.#layOut();
    if (name === "li") this.#closeLink();
    if (BLOCK_ELEMENTS.has(name)) this.#break(SPACED_BLOCKS.has(name));
    if (name === "base") this.base = webUrl(attributes.get("href"), this.base) ?? this.base;
    else if (name === "br") this.#break(false);
    else if (name === "hr") this.#out.lines(["---"]);
    else if (/^h[1-6]$/.test(name)) this.#out.lead = `${"#".repeat(Number(name[1]))} `;
    else if (/^([uo]l|li|dd|blockquote)$/.test(name)) this.#openLevel(name, attributes);
    else if (name === "table") this.#tables.push(new PageTable());
    else if (name === "pre") this.#pre = { pieces: [], language: codeLanguage(attributes) };
    else if (name === "a") this.#openLink(attributes);
    else if (name === "img") this.#image(attributes);
    else if (name === "sup") this.#isRaised = true;
    else if (CODE_ELEMENTS.has(name)) this.#code ??= this.#out.mark();
  }

  #close(name: string): void {
    if (this.#pre) return this.#closeInPre(name);
    if (name === "td" || name === "th") return this.#closeCell();
    if (name === "a") return this.#closeLink();
    if (name === "sup") this.#isRaised = false;
    if (CODE_ELEMENTS.has(name)) return this.#closeCode();
    if (name === "table" && this.#tables.length > 0) return this.#closeTable();
    if (!BLOCK_ELEMENTS.has(name)) return;
    this.#break(SPACED_BLOCKS.has(name));
    if (/^h[1-6]$/.test(name) || name === "dd") this.#out.lead = "";
    if (this.#cellTable) return;
    if (name === "ul" || name === "ol") this.#out.closeList();
    if (name === "blockquote") this.#out.quote(-1);
  }

  /** Ends the line. In a table cell, which has one line, it is a space. */
  #break(isApart: boolean): void {
    if (this.#cellTable) return this.#out.space();
    this.#out.endLine();
    if (isApart) this.#out.blank();
  }

  get #cellTable(): PageTable | undefined {
    const table = this.#tables.at(-1);
    return table?.span && !table.isLayout ? table : undefined;
  }

  /** Starts an element that marks its lines. A table cell has one line. */
  #openLevel(name: string, attributes: Attributes): void {
    if (this.#cellTable) return;
    if (name === "li") return this.#out.item();
    if (name === "blockquote") return this.#out.quote(1);
    if (name === "dd") {
      this.#out.lead = ": ";
      return;
    }
    const start = Number(attributes.get("start")) || 1;
    this.#out.openList(name === "ol" ? start : undefined);
  }

  #openInPre(name: string, attributes: Attributes): void {
    const pre = this.#pre!;
    if (name === "br") pre.pieces.push("\n");
    if (name === "code" && pre.language === "") pre.language = codeLanguage(attributes);
  }

  #closeInPre(name: string): void {
    const pre = this.#pre!;
    // Some pages have an element for each line of code.
    const isLine = /^(div|li|p|tr)$/.test(name);
    if (isLine && !pre.pieces.at(-1)?.endsWith("\n")) pre.pieces.push("\n");
    if (name === "pre") this.#closePre();
  }

  #closePre(): void {
    const { pieces, language } = this.#pre!;
    this.#pre = undefined;
    const code = pieces.join("").replace(/\r\n?/g, "\n").replaceAll("\u00a0", " ")
      .replace(/^\n+/, "").trimEnd();
    if (code === "") return;
    let fence = "```";
    for (const [run] of code.matchAll(/`{3,}/g)) if (run >= fence) fence = `${run}\``;
    this.#out.lines([`${fence}${language}`, ...code.split("\n"), fence]);
    this.#out.blank();
  }

  #openLink(attributes: Attributes): void {
    this.#closeLink();
    const address = linkAddress(attributes.get("href"), this.base);
    this.#link = { at: this.#out.mark(), address };
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (link === undefined) return;
    const { at, address } = link;
    const taken = this.#out.take(at);
    // The address of a link around several lines comes after them.
    if (taken === undefined) {
      if (address) this.#out.text(` (${address})`);
      return;
    }
    const { before, text } = taken;
    if (ANCHORS.includes(text) && (text === "" || !address)) return;
    const isPlain = !address || address === text || this.#code !== undefined;
    this.#out.piece(`${before}${isPlain ? text : `[${text}](${address})`}`);
  }

  #image(attributes: Attributes): void {
    const alt = attributes.get("alt")?.slice(0, MAX_ALT).trim();
    if (alt) this.#out.text(`[image: ${alt}]`);
  }

  #closeCode(): void {
    const code = this.#code;
    this.#code = undefined;
    const taken = code && this.#out.take(code);
    if (!taken || taken.text === "") return;
    const marked = taken.text.includes("`") ? `\`\` ${taken.text} \`\`` : `\`${taken.text}\``;
    this.#out.piece(taken.before + marked);
  }

  #openCell(name: string, attributes: Attributes): void {
    const table = this.#tables.at(-1);
    this.#closeCell();
    if (!table || table.isLayout) {
      if (name === "tr" || !table) this.#break(false);
      else this.#out.space();
      return;
    }
    // Text between cells belongs before the table.
    this.#out.endLine();
    if (name === "tr") table.openRow();
    else {
      this.#out.length += table.openCell(attributes.get("colspan"));
      this.#cell = this.#out.mark();
    }
  }

  #closeCell(): void {
    const table = this.#cellTable;
    if (!table || !this.#cell) return;
    this.#closeLink();
    this.#code = undefined;
    table.closeCell(this.#out.take(this.#cell)?.text ?? "");
  }

  /** Code, headings and tables do not fit in a cell, so the table around them is layout. */
  #layOut(): void {
    const table = this.#tables.at(-1);
    if (!table || table.isLayout) return;
    const begun = this.#cellTable && this.#cell ? this.#out.take(this.#cell)?.text ?? "" : "";
    table.isLayout = true;
    this.#out.lines(table.takeLines());
    this.#out.piece(begun);
  }

  #closeTable(): void {
    this.#closeCell();
    const table = this.#tables.pop()!;
    this.#out.endLine();
    if (!table.isLayout) this.#out.lines(table.takeLines());
    this.#out.blank();
  }
}

function codeLanguage(attributes: Attributes): string {
  const name = /(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#-]{1,20})/i
    .exec(attributes.get("class") ?? "");
  return name?.[1] ?? "";
}

function webUrl(href: string | undefined, base: URL | undefined): URL | undefined {
  const url = href === undefined ? null : URL.parse(href, base);
  return url && /^https?:$/.test(url.protocol) && url.username === "" ? url : undefined;
}

/** Returns the address of a link to another page, from `/` on within the site; otherwise undefined. */
function linkAddress(href: string | undefined, base: URL | undefined): string | undefined {
  if (href === undefined || href.length > 4 * MAX_LINK || /^\s*#/.test(href)) return undefined;
  const url = webUrl(href, base);
  if (url === undefined) return undefined;
  const { origin, pathname, search, hash } = url;
  if (hash !== "" && base && url.href === base.href.replace(/#.*/, "") + hash) return undefined;
  const address = `${origin === base?.origin ? "" : origin}${pathname}${search}${hash}`
    .replaceAll(")", "%29");
  return address.length > MAX_LINK ? undefined : address;
}
