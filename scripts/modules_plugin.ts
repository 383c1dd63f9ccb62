/**
 * A lint plugin that lists the names and imports of a module: it makes one report for each file, whose message is
 * the JSON of `Module`.
 */

/** A name and its line, from 1. */
export interface NameAt {
  name: string;
  line: number;
}

/** The names that a module declares, exports and imports, and its functions. */
export interface Module {
  /** Declared at the top level, exported or not. */
  declared: NameAt[];
  /** Exported under their outer names, `default` among them. */
  exported: NameAt[];
  /**
   * Every import and re-export, also of types. `*` means all exports, and {@linkcode WHOLE} a module that is imported
   * dynamically, as a namespace, or in place of a type.
   */
  imports: { source: string; line: number; names: string[] }[];
  /** Every identifier, to find the names that are used of a whole module; empty without one. */
  identifiers: string[];
  functions: { line: number; lines: number }[];
}

export const WHOLE = "(whole)";

const plugin: Deno.lint.Plugin = {
  name: "modules",
  rules: {
    list: {
      create(context) {
        const { text } = context.sourceCode;
        const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
        const imports: Module["imports"] = [];
        const functions: Module["functions"] = [];
        const identifiers = new Set<string>();
        const measure = ({ range: [start, end] }: Deno.lint.Node) => {
          const line = lineAt(start);
          functions.push({ line, lines: lineAt(end) - line + 1 });
        };
        const add = (source: Deno.lint.Node, names: string[]) => {
          const literal = source.type === "TSLiteralType" ? source.literal : source;
          if (literal.type !== "Literal") return;
          imports.push({ source: `${literal.value}`, line: lineAt(source.range[0]), names });
        };
        return {
          Identifier: ({ name }) => void identifiers.add(name),
          FunctionDeclaration: measure,
          FunctionExpression: measure,
          ArrowFunctionExpression: measure,
          ImportExpression: ({ source }) => add(source, [WHOLE]),
          TSImportType: ({ argument }) => add(argument, [WHOLE]),
          ImportDeclaration: ({ source, specifiers }) => add(source, specifiers.map(importedBy)),
          ExportAllDeclaration: ({ source }) => add(source, ["*"]),
          ExportNamedDeclaration({ source, specifiers }) {
            if (source) add(source, specifiers.map(({ local }) => textOf(local)));
          },
          "Program:exit"(program) {
            const namesBy = (namesOf: (statement: Statement) => string[]): NameAt[] =>
              program.body.flatMap((statement) => {
                const line = lineAt(statement.range[0]);
                return namesOf(statement).map((name) => ({ name, line }));
              });
            const hasWhole = imports.some(({ names }) => names.includes(WHOLE));
            const module: Module = {
              declared: namesBy(declaredBy),
              exported: namesBy(exportedBy),
              imports,
              identifiers: hasWhole ? [...identifiers] : [],
              functions,
            };
            context.report({ node: program, message: JSON.stringify(module) });
          },
        };
      },
    },
  },
};

/** A statement of a module. Deno's types lack some declarations. */
type Statement = Deno.lint.Node;

function textOf(name: Deno.lint.Identifier | Deno.lint.StringLiteral): string {
  return name.type === "Identifier" ? name.name : name.value;
}

function importedBy(specifier: Deno.lint.ImportDeclaration["specifiers"][number]): string {
  if (specifier.type === "ImportNamespaceSpecifier") return WHOLE;
  return specifier.type === "ImportSpecifier" ? textOf(specifier.imported) : "default";
}

function declaredBy(statement: Statement): string[] {
  switch (statement.type) {
    case "ExportNamedDeclaration":
    case "ExportDefaultDeclaration":
      return statement.declaration ? declaredBy(statement.declaration) : [];
    case "VariableDeclaration":
      return statement.declarations.flatMap(({ id }) => namesIn(id));
    case "FunctionDeclaration":
    case "TSDeclareFunction":
    case "ClassDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSEnumDeclaration":
      return statement.id ? [statement.id.name] : [];
    default:
      return [];
  }
}

function exportedBy(statement: Statement): string[] {
  if (statement.type === "ExportDefaultDeclaration") return ["default"];
  if (statement.type !== "ExportNamedDeclaration") return [];
  return [
    ...declaredBy(statement),
    ...statement.specifiers.map(({ exported }) => textOf(exported)),
  ];
}

/** Returns the names that a pattern binds. */
function namesIn(pattern: Deno.lint.Node | null): string[] {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern.name];
    case "ArrayPattern":
      return pattern.elements.flatMap(namesIn);
    case "ObjectPattern":
      return pattern.properties.flatMap((one) =>
        namesIn(one.type === "Property" ? one.value : one.argument)
      );
    case "AssignmentPattern":
      return namesIn(pattern.left);
    case "RestElement":
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

export default plugin;
