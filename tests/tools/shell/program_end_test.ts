import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";

Deno.test("at the program's end what began last ends first, whatever fails", async () => {
  const module = new URL("../../../src/tools/shell/program_end.ts", import.meta.url);
  const code = `import { atProgramEnd } from ${JSON.stringify(fromFileUrl(module))};
    atProgramEnd(() => console.log("folder"));
    atProgramEnd(() => { throw new Error(); });
    const release = atProgramEnd(() => console.log("released"));
    atProgramEnd(() => console.log("command"));
    release();
    Deno.exit();`;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
  assertEquals(new TextDecoder().decode(stdout), "command\nfolder\n");
});
