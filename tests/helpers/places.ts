import { openPermissions } from "../../src/safety/permissions.ts";
import type { Frontend } from "../../src/session/frontend.ts";
import { fakeSession } from "./fake_session.ts";

/** A repository `repo` and a home folder `home` with files, and sessions there. A value that is no text becomes JSON. */
export async function placesWith(files: Readonly<Record<string, unknown>> = {}) {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const put = (name: string, value: unknown) => {
    const path = `${root}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  };
  for (const [name, value] of Object.entries({ "repo/.git/HEAD": "", "home/x": "", ...files })) {
    put(name, value);
  }
  const variables: Record<string, string | undefined> = {
    HOME: `${root}/home`,
    PATH: Deno.env.get("PATH"),
  };
  const permissions = (choice: object = {}) =>
    openPermissions({ sandbox: "off", ...choice }, (name) => variables[name]);
  return {
    root,
    folder: `${root}/repo`,
    put,
    permissions,
    open: (
      host: string,
      options: Parameters<typeof fakeSession>[1] = {},
      frontend: Partial<Frontend> = {},
    ) => {
      const usual = { folder: `${root}/repo`, permissions: permissions(), readsFolder: true };
      return fakeSession(host, { ...usual, ...options }, frontend);
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
