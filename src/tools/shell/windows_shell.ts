/** The shell that commands run in on Windows. @module */

/** Git Bash where it is installed, else PowerShell: its name, for the model, and its program. */
export function windowsShell(
  programFiles: string = Deno.env.get("ProgramFiles") ?? "C:\\Program Files",
): { name: "Git Bash" | "PowerShell"; program: string } {
  const program = `${programFiles}\\Git\\bin\\bash.exe`;
  try {
    if (Deno.statSync(program).isFile) return { name: "Git Bash", program };
  } catch {
    // Not installed, or not for us.
  }
  return { name: "PowerShell", program: "powershell.exe" };
}
