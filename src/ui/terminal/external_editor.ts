import { userProgram } from "../../start_program.ts";
import { makeTempFolder, removeTempFolder } from "../../temp_folder.ts";
import { oneLine } from "../../text/one_line.ts";
import { join } from "../../text/std_path.ts";
import { reasonOf } from "../../text/reason.ts";

interface EditedText {
  text?: string;
  failure?: string;
}

/**
 * Opens `text` in `$VISUAL` or `$EDITOR`; `lend` gives it the terminal, and no command in `worked` writes
 * what it runs. If the editor fails, its text is dropped.
 */
export async function editInProgram(
  text: string,
  lend: (run: () => Promise<Deno.CommandStatus>) => Promise<Deno.CommandStatus>,
  worked: string | undefined,
): Promise<EditedText> {
  const editor = (Deno.env.get("VISUAL")?.trim() || Deno.env.get("EDITOR")?.trim()) ?? "";
  if (editor === "") {
    return { failure: "no editor is set: export EDITOR=vim (or VISUAL) before you start copilot" };
  }
  let folder: string | undefined;
  try {
    folder = makeTempFolder("copilot-edit-");
    const path = join(folder, "message.md");
    await Deno.writeTextFile(path, text, { mode: 0o600, createNew: true });
    const { success, code } = await lend(() => editorCommand(editor, path, worked).spawn().status);
    if (!success) {
      return { failure: `${oneLine(editor)} failed (exit ${code}): the line is as it was` };
    }
    const edited = (await Deno.readTextFile(path)).replace(/\r\n?/g, "\n");
    // Editors add a line feed to the last line.
    return { text: text.endsWith("\n") ? edited : edited.replace(/\n$/, "") };
  } catch (error) {
    return { failure: `${oneLine(editor)} cannot be used: ${oneLine(reasonOf(error))}` };
  } finally {
    if (folder !== undefined) removeTempFolder(folder);
  }
}

/** The setting may have arguments, as in `code --wait`. */
function editorCommand(editor: string, path: string, worked?: string): Deno.Command {
  const streams = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const;
  const [program = "", ...args] = Deno.build.os === "windows"
    ? [...editor.split(/\s+/), path]
    : ["/bin/sh", "-c", `${editor} "$1"`, "sh", path];
  return userProgram(program, { args, ...streams }, worked)!;
}
