/**
 * A lint plugin that tells how each method of a program is written as a function expression, which,
 * unlike a method, may stand in parentheses: the message of each report is the JSON of a `Member` or a
 * `Use`. It reads the syntax tree, so that strings and comments stay as they are.
 */

/**
 * A method, an accessor or an object's method. Where it became a function, `head` stands in place of the
 * source before its parameters, and `tail` behind its end. Places are in UTF-16 units.
 */
export interface Member {
  start: number;
  parameters: number;
  end: number;
  head: string;
  tail: string;
  /** What its private name becomes: a class can take up only public methods later. */
  renamed?: string;
}

/** A place where the private name of a method stands, which may be its own definition. */
export interface Use {
  name: [start: number, end: number];
  renamed: string;
}

type Definition = Deno.lint.MethodDefinition;

const plugin: Deno.lint.Plugin = {
  name: "methods",
  rules: {
    members: {
      create(context) {
        const { text } = context.sourceCode;
        const report = (node: Deno.lint.Node, found: Member | Use) =>
          context.report({ node, message: JSON.stringify(found) });
        /** Where the parameters begin, behind a name that ends at `from`. */
        const parametersOf = (from: number) => text.indexOf("(", from);
        const isPlain = (from: number, to: number) => !/\bsuper\b/.test(text.slice(from, to));
        const functionOf = ({ async, generator }: { async: boolean; generator: boolean }) =>
          `(${async ? "async " : ""}function${generator ? "*" : ""}`;
        return {
          MethodDefinition(node) {
            const { key, kind, value, range: [start, end] } = node;
            const name = nameOf(node);
            if (kind === "constructor" || name === undefined || !isPlain(start, end)) return;
            const renamed = key.type === "PrivateIdentifier" ? publicName(node) : undefined;
            const owner = node.static ? "this" : "this.prototype";
            const property = JSON.stringify(renamed ?? name);
            const [head, tail] = kind === "method"
              ? [`$method(${owner},${property},`, ")}"]
              : [`Object.defineProperty(${owner},${property},{configurable:!0,${kind}:`, "})}"];
            report(node, {
              start,
              parameters: parametersOf(key.range[1]),
              end,
              head: `static{${head}${functionOf(value)}`,
              tail: `)${tail}`,
              ...renamed !== undefined && { renamed },
            });
          },
          Property(node) {
            const { key, value, range: [start, end] } = node;
            if (!node.method || value.type !== "FunctionExpression") {
              return;
            }
            if (!isPlain(start, end) || text[key.range[0] - 1] === "[") return;
            const head = `${text.slice(...key.range)}:${functionOf(value)}`;
            report(node, { start, parameters: parametersOf(key.range[1]), end, head, tail: ")" });
          },
          PrivateIdentifier(node) {
            const method = methodNamed(node);
            if (method) report(node, { name: node.range, renamed: publicName(method) });
          },
        };
      },
    },
  },
};
export default plugin;

function nameOf({ key, computed }: Definition): string | undefined {
  if (computed) return undefined;
  return key.type === "Identifier" || key.type === "PrivateIdentifier" ? key.name : undefined;
}

/** A name that no other class has. */
function publicName(method: Definition): string {
  return `$${nameOf(method)}$${method.parent.range[0].toString(36)}`;
}

/** The method that a private name means, if it is one: the innermost class that has the name decides. */
function methodNamed({ name, parent }: Deno.lint.PrivateIdentifier): Definition | undefined {
  let at: Deno.lint.Node | undefined = parent;
  for (; at; at = (at as { parent?: Deno.lint.Node }).parent) {
    if (at.type !== "ClassBody") continue;
    for (const member of at.body) {
      if (!("key" in member) || member.key.type !== "PrivateIdentifier") continue;
      if (member.key.name === name) return member.type === "MethodDefinition" ? member : undefined;
    }
  }
  return undefined;
}
