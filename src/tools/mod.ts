/**
 * The built-in tools: what the model reads of each (every byte of it is in every request), and
 * where it is done. The code of a tool is loaded on its first use. @module
 */

import { isImageName } from "../text/extname.ts";
import type { CallAction, Subject, Tool } from "../types/tool.ts";
import { parseTasks, TASKS } from "./tasks.ts";
import { checkArguments, type ToolArgs } from "./schema.ts";

const string = (description: string): ToolArgs => ({ type: "string", description });
const object = (properties: ToolArgs, required: string[]): Tool["parameters"] => {
  return { type: "object", properties, required };
};

/** The parameters that hold what is written to a file: its {@linkcode Change} shows them better. */
export const WRITTEN_ARGUMENTS: readonly string[] = ["content", "old_string", "new_string"];
/** The parameter by which a command runs in the background. */
export const BACKGROUND_ARGUMENT = "run_in_background";

/** `tool` with arguments checked and completed, as callers other than an agent have not done. */
export function callable(tool: Tool): Tool {
  const complete = (args: ToolArgs): ToolArgs => {
    const checked = checkArguments(tool, args);
    if (!checked.ok) throw new TypeError(checked.error);
    return checked.args;
  };
  const { prepare } = tool;
  return {
    ...tool,
    ...prepare && { prepare: async (args, context) => await prepare(complete(args), context) },
    run: async (args, context, prepared) => await tool.run(complete(args), context, prepared),
  };
}

const fileSubject = (action: CallAction) => ({ file_path: path }: ToolArgs): Subject => ({
  ...typeof path === "string" && { path, isFile: true },
  action,
});
const searchSubject = (action: CallAction) => ({ path, pattern: query }: ToolArgs): Subject => ({
  ...typeof path === "string" && { path },
  ...typeof query === "string" && { query },
  action,
});
const namesSubject = (action: CallAction) => (args: ToolArgs): Subject => ({
  ...searchSubject(action)(args),
  showsNames: true,
});

const bash: Tool = {
  name: "run_bash",
  description:
    "Run a shell command in the working directory, without input. Processes it leaves in the background are ended.",
  parameters: object({
    command: string("The command"),
    timeout_seconds: { type: "number", minimum: 0.1, maximum: 86400, default: 120 },
    leave: {
      type: "string",
      enum: ["network", "sandbox"],
      description: "If the sandbox made it fail: what to leave, with a reason",
    },
    reason: string("For the user"),
  }, ["command"]),
  access: "execute",
  subject: ({ command, leave, reason, [BACKGROUND_ARGUMENT]: isJob }) => ({
    action: isJob === true ? "start" : "run",
    ...typeof command === "string" && { command },
    ...(leave === "network" || leave === "sandbox") && { leave },
    ...typeof reason === "string" && { reason },
  }),
  run: async (args, context) => (await import("./shell/run_bash.ts")).runBash(args, context),
};
export const shellTool: Tool = callable(bash);

export const fileTool: Tool = callable({
  name: "read_file",
  description: "Read a text file. Lines are numbered; use offset and limit for more.",
  parameters: object({
    file_path: string("File to read"),
    offset: { type: "integer", minimum: 1, default: 1, description: "First line" },
    limit: { type: "integer", minimum: 1, default: 2000, description: "Number of lines" },
  }, ["file_path"]),
  access: "read",
  subject: fileSubject("read"),
  run: async (args, context) => {
    const isMeant = context.imageLimits !== undefined || context.isOfPerson;
    if (isMeant && isImageName(String(args.file_path))) {
      const image = (await import("./files/image.ts")).readImage(String(args.file_path), context);
      const found = await image;
      if (found) return found;
    }
    return (await import("./files/read_file.ts")).readFile(args, context);
  },
});

export const folderTool: Tool = callable({
  name: "list_directory",
  description: "List a folder: folders end in /.",
  parameters: object({ path: { type: "string", default: ".", description: "Folder" } }, []),
  access: "read",
  subject: namesSubject("list"),
  run: async (args, context) =>
    (await import("./files/list_directory.ts")).listDirectory(args, context),
});

/** The seven built-in tools, in the order in which they are offered. */
export const builtinTools: readonly Tool[] = [
  fileTool,
  callable({
    name: "write_file",
    description: "Create a file or replace all of it. Parent folders are created.",
    parameters: object({
      file_path: string("File to write"),
      content: string("The whole content"),
    }, ["file_path", "content"]),
    access: "write",
    subject: fileSubject("write"),
    prepare: async (args, context) =>
      (await import("./files/write_file.ts")).prepareWrite(args, context),
    run: async (args, context, prepared) =>
      (await import("./files/write_file.ts")).writeFile(args, context, prepared),
  }),
  callable({
    name: "edit_file",
    description:
      "Replace text in a file. old_string must match the file exactly (without line numbers) and only once, unless replace_all.",
    parameters: object({
      file_path: string("File to edit"),
      old_string: string("Text to replace"),
      new_string: string("Text to put there"),
      replace_all: { type: "boolean", default: false, description: "Replace every match" },
    }, ["file_path", "old_string", "new_string"]),
    access: "write",
    subject: fileSubject("edit"),
    prepare: async (args, context) =>
      (await import("./files/edit_file.ts")).prepareEdit(args, context),
    run: async (args, context, prepared) =>
      (await import("./files/edit_file.ts")).editFile(args, context, prepared),
  }),
  shellTool,
  callable({
    name: "glob_files",
    description: "Find files by name, newest first. Ignored and hidden files are left out.",
    parameters: object({
      pattern: string("Such as **/*.ts"),
      path: { type: "string", default: ".", description: "Folder to search" },
    }, ["pattern"]),
    access: "read",
    subject: namesSubject("find"),
    run: async (args, context) => (await import("./search/glob_files.ts")).globFiles(args, context),
  }),
  callable({
    name: "grep_code",
    description:
      "Search file contents with a regular expression, line by line. Ignored, hidden and binary files are left out.",
    parameters: object({
      pattern: string("Regular expression"),
      path: { type: "string", default: ".", description: "Folder or file to search" },
      glob: { type: "string", default: "", description: "Only files that match, such as *.ts" },
      context_lines: { type: "integer", minimum: 0, maximum: 100, default: 0 },
    }, ["pattern"]),
    access: "read",
    subject: searchSubject("search"),
    run: async (args, context) => (await import("./search/grep_code.ts")).grepCode(args, context),
  }),
  folderTool,
];

/** `run_bash` where commands can go on in the background. */
const shellOrJobTool = callable({
  ...bash,
  parameters: object({
    ...(bash.parameters.properties as ToolArgs),
    [BACKGROUND_ARGUMENT]: {
      type: "boolean",
      default: false,
      description: "Return while it runs, without a time limit: for servers and long builds",
    },
  }, ["command"]),
  run: async (args, context) =>
    args[BACKGROUND_ARGUMENT]
      ? (await import("./shell/background.ts")).runInBackground(args, context)
      : bash.run(args, context),
});

const jobTool = callable({
  name: "job_output",
  description:
    "Show what a command in the background printed since you last asked. You are told when it ends.",
  parameters: object({
    job: { type: "integer", minimum: 1, description: "Its number" },
    stop: { type: "boolean", default: false, description: "End it" },
  }, ["job"]),
  // Nobody is asked: it ends nothing but what was allowed to begin.
  access: "read",
  subject: ({ job }) => ({ action: "check", ...typeof job === "number" && { job } }),
  run: async (args, context) => (await import("./shell/background.ts")).jobOutput(args, context),
});

/** The list of steps that the model keeps; {@linkcode tasksIn} finds the newest one. */
export const tasksTool: Tool = callable({
  name: TASKS,
  description: "For long work: keep all its steps in a list, a line each: [x] done, [ ] open",
  parameters: object({ list: { type: "string" } }, ["list"]),
  access: "read",
  subject: () => ({ action: "plan" }),
  run({ list }) {
    const tasks = parseTasks(String(list));
    const done = tasks.filter(({ isDone }) => isDone).length;
    return {
      content: `${done} of ${tasks.length} done`,
      counts: { done, tasks: tasks.length },
      tasks,
    };
  },
});

/** `tools` with jobs: the built-in `run_bash` can run in the background, where `job_output` looks. */
export function withJobs(tools: readonly Tool[]): readonly Tool[] {
  return tools.flatMap((tool) => tool === shellTool ? [shellOrJobTool, jobTool] : [tool]);
}
