import { assertEquals } from "@std/assert";
import { walk } from "@std/fs/walk";
import { fromFileUrl } from "@std/path/from-file-url";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));
const FAMILIES = "CMD|EDT|NET|PRC|PTH|R|SBX|SEC|SES|TRU|TTY";

/** `NET-04`, and each section of `spec 2.1, 2.2 and 8`. */
function codesIn(text: string): string[] {
  const sections = text.matchAll(/\bspec (\d+(?:\.\d+)*(?:(?:, | and )\d+(?:\.\d+)*)*)/g);
  return [
    ...[...text.matchAll(new RegExp(`\\b(?:${FAMILIES})-\\d+`, "g"))].map(([code]) => code),
    ...[...sections].flatMap(([, list]) => list!.split(/, | and /).map((one) => `spec ${one}`)),
  ];
}

Deno.test("requirements: every code that is cited has one line, and every line is cited", async () => {
  const cited = new Set<string>();
  for (const folder of ["src", "tests", "scripts"]) {
    for await (const { path } of walk(`${ROOT}${folder}`, { exts: [".ts"] })) {
      if (path.endsWith("requirements_test.ts")) continue;
      for (const code of codesIn(await Deno.readTextFile(path))) cited.add(code);
    }
  }
  const text = await Deno.readTextFile(`${ROOT}docs/requirements.md`);
  const listed = [...text.matchAll(/^- \*\*(.+?)\*\* \S/gm)].map(([, code]) => code!);
  assertEquals(listed.toSorted(), [...cited].sort());
  // A code of a family that is not named above would go unseen.
  const families = new Set(listed.map((code) => code.replace(/[- ].*/, "")));
  assertEquals([...families].sort(), [...FAMILIES.split("|"), "spec"]);
});
