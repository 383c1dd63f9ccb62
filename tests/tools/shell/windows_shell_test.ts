import { assertEquals, assertStringIncludes } from "@std/assert";
import { systemPrompt } from "../../../src/agent/prompt.ts";
import { windowsShell } from "../../../src/tools/shell/windows_shell.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

Deno.test("on Windows commands run in Git Bash where it is, else in PowerShell; the model is told", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  assertEquals(windowsShell(folder), { name: "PowerShell", program: "powershell.exe" });
  const program = `${folder}\\Git\\bin\\bash.exe`;
  if (Deno.build.os === "windows") {
    await Deno.mkdir(`${folder}\\Git\\bin`, { recursive: true });
  }
  await Deno.writeTextFile(program, "");
  assertEquals(windowsShell(folder), { name: "Git Bash", program });
  await Deno.remove(program); // elsewhere it is beside the folder
  assertStringIncludes(systemPrompt("windows"), "windows; run_bash runs ");
  assertEquals(systemPrompt("linux").includes("run_bash runs"), false);
});
