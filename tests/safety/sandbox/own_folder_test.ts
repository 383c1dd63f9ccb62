import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { makeOwnFolder } from "../../../src/safety/sandbox/own_folder.ts";
import { makeTempFolder } from "../../../src/temp_folder.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { posixTest as test } from "../../helpers/test_unless.ts";

const module = fromFileUrl(new URL("../../../src/safety/sandbox/own_folder.ts", import.meta.url));

/** The folder for temporary files, in which `run` makes folders by a program of its own that ends as `end` says. */
function scene() {
  const state = Deno.realPathSync(Deno.makeTempDirSync());
  const temp = `${state}/copilot-tmp`;
  return {
    temp,
    env: (name: string) => name === "XDG_STATE_HOME" ? state : undefined,
    names: () => [...Deno.readDirSync(temp)].map(({ name }) => name).sort(),
    async run(end: string) {
      const code = `import { makeOwnFolder } from ${JSON.stringify(module)};
        const folder = makeOwnFolder((remove) => addEventListener("unload", remove));
        console.log(folder);
        ${end}`;
      const how = { args: ["eval", code], env: { XDG_STATE_HOME: state } };
      const { stdout } = await new Deno.Command(Deno.execPath(), how).output();
      return new TextDecoder().decode(stdout).trim();
    },
    [Symbol.dispose]() {
      Deno.removeSync(state, { recursive: true });
    },
  };
}

/** Has a folder look as if it was made an hour ago. */
const age = (path: string) => Deno.utimeSync(path, new Date(), new Date(Date.now() - 3_600_000));

test("SBX-01 the folder of a run goes at its end, with what commands closed", async () => {
  using at = scene();
  // Root could remove it all the same.
  await at.run(`Deno.mkdirSync(folder + "/a/b", { recursive: true });
      Deno.chmodSync(folder + "/a", 0o500);`);
  assertEquals(at.names(), []);
});

test("SBX-01 a later run removes the folders of killed ones, and those of no other", async () => {
  using at = scene();
  const killed = await at.run('Deno.kill(Deno.pid, "SIGKILL");');
  Deno.mkdirSync(`${killed}/a/b`, { recursive: true });
  Deno.chmodSync(`${killed}/a`, 0);
  let end = () => {};
  const used = makeOwnFolder((remove) => end = remove, at.env);
  for (const path of [killed, used]) age(path);
  const other = makeTempFolder("copilot-edit-", at.env);
  age(other);
  Deno.symlinkSync(other, `${at.temp}/copilot-sandbox-link`);
  const young = await at.run('Deno.kill(Deno.pid, "SIGKILL");');
  await waitUntil(() => !at.names().includes(killed.slice(at.temp.length + 1)));
  end();
  const left = [other, `${at.temp}/copilot-sandbox-link`, young];
  assertEquals(at.names().map((name) => `${at.temp}/${name}`), left.sort());
});
