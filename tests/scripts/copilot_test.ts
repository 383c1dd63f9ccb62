import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { noTmux, terminal } from "../helpers/tmux.ts";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

Deno.test(
  "copilot: what is typed while the bundle is made is not echoed, and is there for the program",
  { ignore: Deno.build.os === "windows" || noTmux !== "" },
  async () => {
    await using screen = await terminal();
    const { folder } = screen;
    const put = (path: string, text: string) =>
      Deno.writeTextFile(`${folder}/${path}`, text, { mode: 0o755 });
    for (const path of ["scripts", "src", ".deno/bin"]) {
      await Deno.mkdir(`${folder}/${path}`, { recursive: true });
    }
    for (const file of ["copilot", "permissions"]) {
      await Deno.copyFile(`${ROOT}scripts/${file}`, `${folder}/scripts/${file}`);
    }
    for (const file of ["scripts/setup", "deno.json", "main.ts", ".deno/ready"]) {
      await put(file, "#!/bin/sh\n");
    }
    // It ends once the first line was typed, and leaves the second one.
    await put("scripts/bundle", "#!/bin/sh\necho making >/dev/tty\nread -r line </dev/tty\n");
    await put(".deno/bin/deno", '#!/bin/sh\nread -r line\necho "it read: $line$NODE_OPTIONS"\n');
    await screen.type("clear; NODE_OPTIONS=x scripts/copilot; echo left: $?\r");
    await screen.until((rows) => rows.includes("making"));
    await screen.type("one\rtwo\r");
    const rows = await screen.until("left: 0");
    assertEquals(rows.slice(rows.indexOf("making"), -1), ["making", "it read: two", "left: 0"]);
    // The terminal echoes again.
    await screen.type("again");
    await screen.until((rows) => rows.at(-1)!.endsWith("again"));
  },
);
