import { assertEquals } from "@std/assert";
import { droppedImages } from "../../../src/ui/terminal/dropped_images.ts";
import { png } from "../../helpers/images.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

Deno.test("a paste of nothing but paths of images is their @paths, in every spelling of terminals", () => {
  using temp = tempFolder();
  const dir = temp.path;
  for (const name of ["a.png", "b c.PNG", "it's.jpg", 'q".png']) {
    Deno.writeFileSync(`${dir}/${name}`, png(1, 1));
  }
  Deno.writeTextFileSync(`${dir}/notes.txt`, "");
  Deno.mkdirSync(`${dir}/folder.png`);
  const blank = `@"${dir}/b c.PNG" `;
  const rows: [paste: string, typed: string | undefined][] = [
    [`${dir}/a.png`, `@${dir}/a.png `],
    [`${dir}/a.png\n`, `@${dir}/a.png `],
    [`${dir}/b c.PNG`, blank],
    [`'${dir}/b c.PNG'`, blank],
    [`"${dir}/b c.PNG"`, blank],
    [`${dir}/b\\ c.PNG`, blank],
    [`file://${dir}/b%20c.PNG`, blank],
    [`file://${dir}/a.png\r\nfile://${dir}/b%20c.PNG\r\n`, `@${dir}/a.png ${blank}`],
    [`${dir}/a.png '${dir}/b c.PNG'`, `@${dir}/a.png ${blank}`],
    [`'${dir}/it'\\''s.jpg'`, `@${dir}/it's.jpg `],
    [`${dir}/q\\".png`, undefined],
    [`see ${dir}/a.png`, undefined],
    ["a.png", undefined],
    [`${dir}/none.png`, undefined],
    [`${dir}/notes.txt`, undefined],
    [`${dir}/notes.txt ${dir}/a.png`, undefined],
    [`${dir}/folder.png`, undefined],
    ["file://host.example/share/a.png", undefined],
    ["file://%zz/a.png", undefined],
    [`${"x".repeat(9000)}.png`, undefined],
    ["'.png", undefined],
    [".png", undefined],
    ["", undefined],
  ];
  const most = `${`${dir}/a.png`.padEnd(8192 - `${dir}/a.png`.length)}${dir}/a.png`;
  rows.push([most, `@${dir}/a.png `.repeat(2)], [most.replace(" ", "  "), undefined]);
  for (const [paste, typed] of rows) assertEquals(droppedImages(paste), typed, paste);
});
