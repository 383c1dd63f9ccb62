/**
 * Lint rules of this project that need the syntax tree; `deno.json` loads them.
 */

/** The module that may call `fetch`: retries, time limits and redirects have one home. */
const FETCH_HOME = "src/wire/http.ts";

/** The module that may start programs, which gives each the folders of PATH that no command writes. */
const START_HOME = "src/start_program.ts";

/** Words that make a comment hard to read. */
const HARD_WORDS =
  /\b(?:anew|heed(?:s|ed)?|nobody|such that|thereby|whatever|told|no longer so|at no time|(?<![Tt]here )(?:is|are|was|were) none|(?:goes|gone) on)\b|(?:^|\n)[\s*]*(?:What was|Those that)\b/;

/** Returns a rule for the files of `src/`, except the one at `home`. */
function rule(
  visitor: (context: Deno.lint.RuleContext, file: string) => Deno.lint.LintVisitor,
  home?: string,
): Deno.lint.Rule {
  return {
    create(context) {
      const [, file] = /(?:^|\/)(src\/.+)$/.exec(context.filename.replaceAll("\\", "/")) ?? [];
      return file === undefined || file === home ? {} : visitor(context, file);
    },
  };
}

const plugin: Deno.lint.Plugin = {
  name: "copilot",
  rules: {
    "one-fetch": rule((context) => ({
      CallExpression({ callee }) {
        const name = callee.type === "MemberExpression" ? callee.property : callee;
        if (name.type !== "Identifier" || name.name !== "fetch") return;
        context.report({ node: callee, message: `Only ${FETCH_HOME} calls fetch` });
      },
    }), FETCH_HOME),
    "one-start": rule((context) => ({
      NewExpression({ callee }) {
        if (context.sourceCode.getText(callee) !== "Deno.Command") return;
        context.report({ node: callee, message: `Only ${START_HOME} starts programs` });
      },
    }), START_HOME),
    // A module that is imported by a computed name is missing from the compiled program.
    "literal-import": rule((context) => ({
      ImportExpression({ source }) {
        if (source.type === "Literal") return;
        context.report({ node: source, message: "import() takes a literal here" });
      },
    })),
    // console.log drops text without an error where the reader has gone; ui/terminal/stdio.ts reports it.
    "no-console": rule((context) => ({
      MemberExpression({ object }) {
        if (object.type !== "Identifier" || object.name !== "console") return;
        context.report({ node: object, message: "src/ does not write to the console" });
      },
    })),
    "plain-english": rule((context) => ({
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const [found] = HARD_WORDS.exec(comment.value) ?? [];
          if (found === undefined) continue;
          const message = `"${found.trim()}" makes a comment hard to read: use plain English`;
          context.report({ range: comment.range, message });
        }
      },
    })),
    "no-barrel": rule((context, file) => ({
      Program(node) {
        const reexports = node.body.every((item) =>
          item.type === "ExportAllDeclaration" ||
          item.type === "ExportNamedDeclaration" && item.source !== null
        );
        if (file.endsWith("/mod.ts") || !reexports || node.body.length === 0) return;
        context.report({ node, message: "A module that only re-exports is named mod.ts" });
      },
    })),
  },
};

export default plugin;
