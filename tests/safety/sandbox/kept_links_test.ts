import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { keepLinks, restoreLinks } from "../../../src/safety/sandbox/kept_links.ts";
import { openPermissions } from "../../../src/session/permissions.ts";
import { waitUntil } from "../../helpers/wait_until.ts";

const module = fromFileUrl(
  new URL("../../../src/safety/sandbox/kept_links.ts", import.meta.url),
);
const unix = { ignore: Deno.build.os === "windows" };

/** A folder with a link, and the state folder of its table. */
async function scene() {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [folder, state] = [`${base}/work`, `${base}/home/.local/state/copilot`];
  const link = `${folder}/.git`;
  for (const at of [folder, state]) await Deno.mkdir(at, { recursive: true });
  await Deno.symlink("../repo/.git", link);
  return {
    ...{ base, folder, state, link, view: { folder, links: [link] } },
    restore: () => restoreLinks(folder, state),
    target: () => {
      try {
        return Deno.readLinkSync(link);
      } catch {
        return undefined;
      }
    },
    replace: () => {
      Deno.removeSync(link);
      Deno.mkdirSync(link);
    },
    asides: () =>
      [...Deno.readDirSync(folder)].filter(({ name }) => name.includes(".replaced-")).length,
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

Deno.test({
  name: "R-03 a link that a command replaces is restored while it runs, each time",
  ...unix,
  async fn() {
    await using at = await scene();
    const end = keepLinks(at.view, at.state);
    for (let times = 1; times <= 2; times++) {
      at.replace();
      await waitUntil(() => at.target() === "../repo/.git");
      assertEquals(at.asides(), times);
    }
    Deno.removeSync(at.link);
    // A replacement is no link of the user, whatever its name.
    const { name } = [...Deno.readDirSync(at.folder)].find(({ name }) => name !== ".git")!;
    const aside = `${at.folder}/${name}`;
    Deno.removeSync(aside);
    Deno.symlinkSync("x", aside);
    const endAside = keepLinks({ ...at.view, links: [aside] });
    Deno.removeSync(aside);
    assertEquals(endAside(), []);
    const said = end();
    assertEquals([said.length, at.target(), at.asides()], [3, "../repo/.git", 1]);
    assertStringIncludes(said[2]!, `${at.link} is a link that commands may not replace: it was`);
  },
});

Deno.test({
  name: "R-03 the next start restores a link that a command of a killed run replaced",
  ...unix,
  async fn() {
    await using at = await scene();
    const code = `import { keepLinks } from ${JSON.stringify(module)};
      keepLinks(${JSON.stringify(at.view)}, ${JSON.stringify(at.state)});
      Deno.kill(Deno.pid, "SIGKILL");`;
    await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
    at.replace();
    const variables: Record<string, string> = { HOME: `${at.base}/home`, PATH: "/usr/bin:/bin" };
    const permissions = openPermissions({ sandbox: "off" }, (name) => variables[name]);
    const notices = await permissions.prepare(at.folder, true);
    assertEquals([at.target(), notices.some(({ code }) => code === "mended")], [
      "../repo/.git",
      true,
    ]);
    // Nothing runs any more: the user may replace it.
    at.replace();
    await permissions.prepare(at.folder, true);
    assertEquals(at.target(), undefined);
  },
});

Deno.test({
  name:
    "R-03 a start and an end restore the links of other running commands, and do not forget them",
  ...unix,
  async fn() {
    await using at = await scene();
    const first = keepLinks(at.view, at.state);
    const second = keepLinks(at.view, at.state);
    at.replace();
    assertEquals(at.restore().length, 1);
    assertEquals(second(), []);
    at.replace();
    assertEquals(at.restore().length, 1);
    assertEquals(first(), []);
    at.replace();
    assertEquals([at.restore(), at.target()], [[], undefined]);
  },
});

Deno.test({
  name: "R-03 a folder that is now a link has no link restored, and the next start tries again",
  ...unix,
  async fn() {
    await using at = await scene();
    const end = keepLinks(at.view, at.state);
    await Deno.rename(at.folder, `${at.base}/moved`);
    await Deno.mkdir(`${at.base}/other`);
    await Deno.symlink("other", at.folder);
    const said = end();
    assertStringIncludes(said[0]!, "could not be restored");
    assertEquals([...Deno.readDirSync(`${at.base}/other`)], []);
    await Deno.remove(at.folder);
    await Deno.rename(`${at.base}/moved`, at.folder);
    at.replace();
    assertEquals([at.restore().length, at.target()], [1, "../repo/.git"]);
  },
});
