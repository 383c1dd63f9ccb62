import { assert, assertEquals, assertThrows } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { ClipboardImages } from "../../../src/ui/terminal/dropped_images.ts";
import { png } from "../../helpers/images.ts";

const isWindows = Deno.build.os === "windows";
const printing = (script: string): [string, ...string[]] => ["sh", "-c", script];

Deno.test(
  "the clipboard's image is a private file of the first program that gives one, gone in the end",
  { ignore: isWindows },
  async () => {
    const source = await Deno.makeTempFile();
    try {
      await Deno.writeFile(source, png(3, 4));
      const readers = [
        ["copilot-no-such-program"] as const,
        printing("echo no image >&2; exit 1"),
        printing("echo text"),
        printing(`cat '${source}'; exit 1`),
        printing(`cat '${source}'`),
      ];
      let path: string;
      {
        const said: string[] = [];
        const say = (line: string) => void said.push(line);
        using images = new ClipboardImages(readers);
        path = (await images.paste(say))!;
        assertEquals(await Deno.readFile(path), png(3, 4));
        assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
        assertEquals((await Deno.stat(dirname(path))).mode! & 0o777, 0o700);
        assert(await images.paste(say) !== path, "each paste is a file of its own");
        assertEquals(said, []);
        using none = new ClipboardImages(readers.slice(0, 4));
        assertEquals(await none.paste(say), undefined);
        const programs = "copilot-no-such-program, sh, sh, sh";
        assertEquals(said, [`· no image in the clipboard (programs: ${programs})`]);
      }
      assertThrows(() => Deno.statSync(dirname(path)), Deno.errors.NotFound);
    } finally {
      await Deno.remove(source);
    }
  },
);
