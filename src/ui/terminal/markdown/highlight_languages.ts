/** The tokens of common languages, by family. A coloured word too many does no harm. @module */

/** `comment` and `string` are the sources of patterns. */
interface Tokens {
  comment?: string;
  /** Comments and strings of several lines: the opening sign, and a pattern up to the end. */
  spans: [open: string, close: RegExp][];
  string: string;
  /** True if keywords may be upper case. */
  anyCase?: boolean;
}

const DOUBLE = String.raw`"(?:[^"\\]|\\.)*"?`;
const EITHER_QUOTE = String.raw`${DOUBLE}|'(?:[^'\\]|\\.)*'?`;
/** A `'` that does not quote one character starts a lifetime or separates digits. */
const DOUBLE_OR_CHAR = String.raw`${DOUBLE}|'(?:[^'\\]|\\.[^']{0,9})'`;
const SLASHES = String.raw`\/\/.*`;
const HASH = String.raw`(?<![^\s;(\[{])#.*`;
const DASHES = "--.*";
const BLOCK: Tokens["spans"][0] = ["/*", /[^]*?\*\//y];
const TEMPLATE: Tokens["spans"][0] = ["`", /(?:[^\\`]|\\.)*?`/y];
const RAW: Tokens["spans"][0] = ["`", /[^`]*`/y];
const TRIPLE: Tokens["spans"] = [['"""', /(?:[^\\]|\\.)*?"""/y], ["'''", /(?:[^\\]|\\.)*?'''/y]];

const LANGUAGE_FAMILIES: readonly [names: string, tokens: Tokens, keywords: string][] = [
  [
    "js javascript jsx mjs cjs ts typescript tsx mts json json5 jsonc",
    { comment: SLASHES, spans: [BLOCK, TEMPLATE], string: EITHER_QUOTE },
    "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number object of private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown using var void while with yield",
  ],
  [
    "py python python3 pyi",
    { comment: "#.*", spans: TRIPLE, string: EITHER_QUOTE },
    "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try type while with yield",
  ],
  [
    "sh bash shell zsh fish console shellsession dockerfile docker make makefile",
    { comment: HASH, spans: [], string: `${DOUBLE}|'[^']*'?` },
    "ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM RUN USER VOLUME WORKDIR case cd do done echo elif else esac exit export fi for function if in local read return set shift source then trap unset until while",
  ],
  [
    "c h cpp c++ cc cxx hpp objc cs csharp c# java kotlin kt scala dart swift php zig proto",
    { comment: SLASHES, spans: [BLOCK], string: DOUBLE_OR_CHAR },
    "abstract actor as async auto await base bool boolean break byte case catch char class const constexpr continue data decimal default defer def delete do double echo else enum explicit export extends extension extern false final finally float fn for foreach fun func function get goto guard if implements import in init inline int interface internal is lateinit let lock long match message mutable namespace new nil null nullptr object operator out override package private protected protocol public readonly record ref return sealed self set short signed sizeof static string struct super suspend switch synchronized template this throw throws trait true try type typedef typename union unsigned use using val var virtual void volatile when where while with yield",
  ],
  [
    "go golang",
    { comment: SLASHES, spans: [BLOCK, RAW], string: DOUBLE_OR_CHAR },
    "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface iota map nil package range return rune select string struct switch true type uint var",
  ],
  [
    "rs rust",
    { comment: SLASHES, spans: [BLOCK], string: DOUBLE_OR_CHAR },
    "Self as async await bool box break const continue crate dyn else enum extern f32 f64 false fn for i32 i64 if impl in let loop match mod move mut pub ref return self static str struct super trait true type u32 u64 u8 union unsafe use usize where while",
  ],
  [
    "rb ruby jl julia ex exs elixir perl pl r nix tcl",
    { comment: HASH, spans: TRIPLE.slice(0, 1), string: EITHER_QUOTE },
    "FALSE NULL TRUE abstract alias and attr_accessor attr_reader begin break case catch class const continue def defmodule defp do else elseif elsif end ensure export extend false fn for foreach function global if import in include let library local macro module mutable my next nil not nothing or our package private quote raise redo require rescue return self struct sub super then true try unless until use using when where while with yield",
  ],
  [
    "yaml yml toml ini cfg conf properties env hcl tf terraform gitignore",
    { comment: HASH, spans: [], string: `${DOUBLE}|(?<![\\w])'[^']*'?` },
    "data false no null off on output resource true variable yes",
  ],
  [
    "sql mysql pgsql postgres postgresql sqlite plsql",
    { comment: DASHES, spans: [BLOCK], string: `'(?:[^']|'')*'?|"[^"]*"?`, anyCase: true },
    "add all alter and as asc begin between by case cascade check column commit constraint create cross database default delete desc distinct drop else end except exists foreign from full group having if in index inner insert intersect into is join key left like limit not null offset on or order outer over partition primary references returning right rollback select set table then transaction trigger true false union unique update using values view when where with",
  ],
  [
    "lua hs haskell elm ada",
    {
      comment: DASHES,
      spans: [["--[[", /[^]*?\]\]/y], ["{-", /[^]*?-\}/y]],
      string: DOUBLE_OR_CHAR,
    },
    "and break case class data deriving do else elseif end false for function goto if import in infix instance let local module newtype nil not of or repeat return then true type until where while",
  ],
  [
    "css scss sass less",
    { comment: String.raw`(?<![:\w])\/\/.*`, spans: [BLOCK], string: EITHER_QUOTE },
    "important media import supports keyframes include mixin extend from to and not",
  ],
  [
    "html htm xml svg vue svelte xhtml",
    { spans: [["<!--", /[^]*?-->/y]], string: `(?<==)"[^"]*"?|(?<==)'[^']*'?` },
    "",
  ],
];

export interface Lexicon extends Tokens {
  keywords: Set<string>;
  /** Matches the next token in one of its groups. */
  pattern: RegExp;
}

const lexicons = new Map<string, Lexicon>();

export function languageOf(name: string): Lexicon | undefined {
  const lower = name.toLowerCase();
  const family = LANGUAGE_FAMILIES.find(([names]) => names.split(" ").includes(lower));
  if (!family) return undefined;
  const [names, tokens, keywords] = family;
  let lexicon = lexicons.get(names);
  if (!lexicon) {
    const { comment, spans, string } = tokens;
    const openers = spans.map(([open]) => open.replace(/[*[{]/g, "\\$&")).join("|");
    const pattern = new RegExp(
      `(?<opener>${openers || "[]"})|(?<comment>${comment ?? "[]"})|(?<string>${string})|` +
        "(?<number>\\b\\d[\\w.]*)|(?<word>[\\p{L}_$][\\p{L}\\p{N}_$]*)",
      "gu",
    );
    lexicon = { ...tokens, keywords: new Set(keywords.split(" ")), pattern };
    lexicons.set(names, lexicon);
  }
  return lexicon;
}
