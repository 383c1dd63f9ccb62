/** The shell for commands on Windows. @module */

import { attempt } from "../../attempt.ts";

/** Git Bash if it is installed, otherwise PowerShell: its name, for the model, and its program. */
export function windowsShell(
  programFiles: string = Deno.env.get("ProgramFiles") ?? "C:\\Program Files",
): { name: "Git Bash" | "PowerShell"; program: string } {
  const program = `${programFiles}\\Git\\bin\\bash.exe`;
  return attempt(() => Deno.statSync(program))?.isFile
    ? { name: "Git Bash", program }
    : { name: "PowerShell", program: "powershell.exe" };
}
