/**
 * A lint plugin that proposes small breaks of a program: the message of each report is the JSON of a `Break`. It
 * reads the syntax tree, so comments, strings and types do not change.
 */

/** A break replaces a range of the source, in UTF-16 units, by another text. */
export interface Break {
  /** What is broken; each kind is drawn as often as any other. */
  kind: string;
  start: number;
  end: number;
  after: string;
}

const TURNED: Record<string, string> = {
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
  "==": "!=",
  "!=": "==",
  "===": "!==",
  "!==": "===",
};
const MOVED: Record<string, string> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const SWAPPED: Record<string, string> = { "&&": "||", "||": "&&" };

/** Statements that leave a block early. */
const EXITS = ["ReturnStatement", "ThrowStatement", "ContinueStatement", "BreakStatement"];

/** Arrays with more numbers are tables of data, which would outnumber all other candidates. */
const MAX_NUMBERS = 8;

const plugin: Deno.lint.Plugin = {
  name: "mutants",
  rules: {
    candidates: {
      create(context) {
        const { text } = context.sourceCode;
        const propose = (
          node: Deno.lint.Node,
          kind: string,
          range: number[],
          to: string,
        ) => {
          const [start, end] = range as [number, number];
          const message = JSON.stringify({ kind, start, end, after: to } satisfies Break);
          context.report({ node, message });
        };
        /** Proposes another operator between two operands. */
        const exchange = (
          node: Deno.lint.BinaryExpression | Deno.lint.LogicalExpression,
          kind: string,
          operator: string | undefined,
        ) => {
          if (operator === undefined) return;
          const at = text.indexOf(node.operator, node.left.range[1]);
          propose(node, kind, [at, at + node.operator.length], operator);
        };
        const negate = (test: Deno.lint.Expression) => {
          if (!/^(Identifier|CallExpression|MemberExpression|ChainExpression)$/.test(test.type)) {
            return;
          }
          propose(test, "condition", test.range, `!(${text.slice(...test.range)})`);
        };
        return {
          BinaryExpression(node) {
            exchange(node, "comparison", TURNED[node.operator]);
            exchange(node, "bound", MOVED[node.operator]);
          },
          LogicalExpression: (node) => exchange(node, "logic", SWAPPED[node.operator]),
          UnaryExpression({ operator, argument, parent, range }) {
            const isNot = (node: Deno.lint.Node) =>
              node.type === "UnaryExpression" && node.operator === "!";
            if (operator !== "!" || isNot(argument) || isNot(parent)) return;
            propose(argument, "negation", [range[0], range[0] + 1], "");
          },
          ConditionalExpression: ({ test }) => negate(test),
          IfStatement({ test, consequent, alternate }) {
            negate(test);
            const last = consequent.type === "BlockStatement" ? consequent.body.at(-1) : consequent;
            if (alternate || !last || !EXITS.includes(last.type)) return;
            propose(last, "exit", last.range, "{}");
          },
          Literal(node) {
            const { parent, range } = node;
            if (parent.type === "TSLiteralType") return;
            if (typeof node.value === "boolean") {
              propose(parent, "boolean", range, `${!node.value}`);
            }
            if (typeof node.value !== "number" || isTable(parent)) return;
            const value = Number(node.raw.replaceAll("_", "")); // Deno's `value` of 1_000 is NaN
            if (value < 10) return propose(parent, "constant", range, `${value + 1}`);
            propose(parent, "constant", range, "0");
            propose(parent, "constant", range, `${value * 10}`);
          },
        };
      },
    },
  },
};

function isTable(node: Deno.lint.Node): boolean {
  return node.type === "ArrayExpression" && node.elements.length > MAX_NUMBERS &&
    node.elements.every((one) => one.type === "Literal");
}

export default plugin;
