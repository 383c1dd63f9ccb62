import { fromFileUrl } from "@std/path/from-file-url";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";

/** A message of a lint plugin about a file, named relative to the project. */
export interface LintReport {
  file: string;
  message: string;
}

/**
 * Runs the lint plugin at `plugin`, and no other rule, over `paths` of the project at `root`. This gives access
 * to the syntax tree without a parser of our own.
 */
export async function lintReports(
  plugin: URL,
  root: string,
  paths: readonly string[],
): Promise<LintReport[]> {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const lint = { plugins: [plugin.href], rules: { tags: [] } };
    await Deno.writeTextFile(config, JSON.stringify({ lint }));
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["lint", "--json", "--config", config, ...paths],
      cwd: root,
    }).output();
    const text = new TextDecoder();
    const output = text.decode(stdout);
    if (output === "") throw new Error(`Cannot lint ${paths.join(" ")}: ${text.decode(stderr)}`);
    const { diagnostics, errors } = JSON.parse(output);
    if (errors.length > 0) throw new Error(`Cannot parse ${JSON.stringify(errors[0])}`);
    const base = resolve(root);
    return diagnostics.map(({ filename, message }: { filename: string; message: string }) => ({
      file: relative(base, fromFileUrl(filename)).replaceAll("\\", "/"),
      message,
    }));
  } finally {
    await Deno.remove(config);
  }
}
