/**
 * `scripts/mcp_conformance [SCENARIO...]` runs the client scenarios that each revision requires. It installs the
 * official suite from npm into a temporary folder, and tests the whole program (`mcp_conformance_client.ts`).
 * Exits with 1 if a scenario fails, warns, or checks nothing. Needs npm, and curl in place of a browser.
 */
import { fromFileUrl } from "@std/path/from-file-url";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The suite needs a newer Node than many machines have. */
const NODE = "node@22";
const REVISIONS = ["2026-07-28", "2025-11-25"];
/** Scenarios that a revision lists without a score, and that must pass as well. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28": ["json-schema-2020-12-preservation"],
};
const CLIENT = fromFileUrl(new URL("mcp_conformance_client.ts", import.meta.url));
const CONFIG = fromFileUrl(new URL("../deno.json", import.meta.url));

async function run(folder: string, program: string, args: string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(program, { args, cwd: folder, stdin: "null" })
    .output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

const folder = await Deno.makeTempDir({ prefix: "copilot-mcp-" });
let failed = 0;
try {
  await Deno.writeTextFile(`${folder}/package.json`, '{"private":true}');
  const installed = await run(folder, "npm", ["install", "--no-audit", "--no-fund", SUITE, NODE]);
  const node = `${folder}/node_modules/node/bin/node`;
  const suite = `${folder}/node_modules/@modelcontextprotocol/conformance/dist/index.js`;
  for (const revision of REVISIONS) {
    const list = await run(folder, node, [suite, "list", "--requirements", revision]);
    const clients = list.split(/^Client scenarios.*$/m)[1];
    if (clients === undefined) throw new Error(`The suite cannot be run: ${list}${installed}`);
    // Scenarios with a kind after their name are not scored.
    const scored = [...clients.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name!);
    const all = [...scored, ...FURTHER[revision] ?? []]
      .filter((name) => Deno.args.length === 0 || Deno.args.includes(name));
    for (const name of all) {
      const command = `deno run -A --no-check --config ${CONFIG} ${CLIENT}`;
      const text = await run(folder, node, [
        ...[suite, "client", "--command", command, "--scenario", name],
        ...["--spec-version", revision, "--timeout", "90000"],
      ]);
      const [, passed, checks, wrong, warnings] =
        /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warning/.exec(text) ?? [];
      const isGood = Number(passed) > 0 && passed === checks && wrong === "0" && warnings === "0";
      console.log(`${isGood ? "ok  " : "FAIL"} ${revision} ${name} ${passed ?? 0}/${checks ?? 0}`);
      if (isGood) continue;
      failed++;
      console.log(text);
    }
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
console.log(failed === 0 ? "All passed." : `${failed} failed.`);
Deno.exit(failed === 0 ? 0 : 1);
