/**
 * A lint plugin that lists the names of a module: it makes one report for each file, whose message is
 * the JSON of `Names`.
 */

/** A name and its line, from 1. */
export interface NameAt {
  name: string;
  line: number;
}

/** The names that a module declares, exports and imports, and its functions. */
export interface Names {
  /** Declared at the top level, exported or not. */
  declared: NameAt[];
  /** Exported under their outer names, `default` among them. */
  exported: NameAt[];
  /** Imported by name, or re-exported. `*` means all exports of `source`. */
  imported: { source: string; name: string }[];
  /** Modules that are imported whole: dynamically, as a namespace, or in place of a type. */
  namespaces: string[];
  /** Every identifier, to find the names that are used of a namespace; empty without namespaces. */
  identifiers: string[];
  functions: (NameAt & { lines: number })[];
}

const plugin: Deno.lint.Plugin = {
  name: "names",
  rules: {
    list: {
      create(context) {
        const { text } = context.sourceCode;
        const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
        const names: Names = {
          declared: [],
          exported: [],
          imported: [],
          namespaces: [],
          identifiers: [],
          functions: [],
        };
        const identifiers = new Set<string>();
        const measure = (node: Deno.lint.Node) => {
          const [start, end] = node.range;
          const lines = lineAt(end) - lineAt(start) + 1;
          names.functions.push({ name: functionName(node), line: lineAt(start), lines });
        };
        const addNamespace = (source: Deno.lint.Node) => {
          const literal = source.type === "TSLiteralType" ? source.literal : source;
          if (literal.type === "Literal") names.namespaces.push(`${literal.value}`);
        };
        return {
          Identifier: ({ name }) => void identifiers.add(name),
          FunctionDeclaration: measure,
          FunctionExpression: measure,
          ArrowFunctionExpression: measure,
          ImportExpression: ({ source }) => addNamespace(source),
          TSImportType: ({ argument }) => addNamespace(argument),
          ImportDeclaration({ source, specifiers }) {
            for (const one of specifiers) {
              if (one.type === "ImportNamespaceSpecifier") addNamespace(source);
              else {
                const name = one.type === "ImportSpecifier" ? textOf(one.imported) : "default";
                names.imported.push({ source: source.value, name });
              }
            }
          },
          ExportAllDeclaration: ({ source }) =>
            void names.imported.push({ source: source.value, name: "*" }),
          "Program:exit"(program) {
            for (const statement of program.body) {
              const line = lineAt(statement.range[0]);
              for (const name of declaredBy(statement)) names.declared.push({ name, line });
              for (const name of exportedBy(statement)) names.exported.push({ name, line });
              if (statement.type !== "ExportNamedDeclaration" || !statement.source) continue;
              for (const { local } of statement.specifiers) {
                names.imported.push({ source: statement.source.value, name: textOf(local) });
              }
            }
            if (names.namespaces.length > 0) names.identifiers = [...identifiers];
            context.report({ node: program, message: JSON.stringify(names) });
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

/** Returns the name of a function: its own, or the name of its method, property or variable. */
function functionName(node: Deno.lint.Node): string {
  if (node.type === "FunctionDeclaration" && node.id) return node.id.name;
  const { parent } = node as { parent?: Deno.lint.Node };
  if (parent?.type === "VariableDeclarator") return namesIn(parent.id).join();
  if (parent?.type === "MethodDefinition" || parent?.type === "Property") {
    if (parent.key.type === "Identifier") return parent.key.name;
    if (parent.key.type === "PrivateIdentifier") return `#${parent.key.name}`;
    if (parent.key.type === "Literal") return `${parent.key.value}`;
  }
  return "(no name)";
}

export default plugin;
