/** The skills, commands and sub-agents of a session: lines that start with one, skills for the model. @module */

import type { CopilotAgent } from "../../agent/agent.ts";
import { outcomeOf } from "../../agent/run_tools.ts";
import { attempt } from "../../attempt.ts";
import { targetOf } from "../../models/target.ts";
import { attachFiles } from "../../session/attach.ts";
import { commandIn } from "../../session/commands/command_line.ts";
import { commandsOf } from "../../session/commands/registry.ts";
import type { Command, Extension, SessionState } from "../../session/extension.ts";
import { CHARS_PER_TOKEN, count } from "../../text/count.ts";
import { didYouMean } from "../../text/nearest.ts";
import { oneLine } from "../../text/one_line.ts";
import { isWithin } from "../../text/paths.ts";
import { notePart } from "../../text/parts.ts";
import { dirname, join, resolve } from "../../text/std_path.ts";
import { truncateMiddle } from "../../text/truncate.ts";
import { EXPLORE } from "../../tools/explore.ts";
import { fileTool } from "../../tools/read_file.ts";
import { shellTool } from "../../tools/run_bash.ts";
import type { Part, TextPart } from "../../types/message.ts";
import type { Policy } from "../../types/policy.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { promptCatalogue, SKILL_SCHEME, skillList } from "./catalogue.ts";
import { type LoadedPromptFiles, loadPromptFiles, type PromptFile } from "./load.ts";
import { promptFolders } from "./places.ts";
import { fillTemplate } from "./template.ts";

/** Characters of a skill per token of context: about an eighth of the context. */
const SKILL_SHARE = 0.5;
const CATALOGUE_SHARE = 0.015;
/** The maximum number of ignored files that one notice names. */
const MAX_NAMED = 10;

export class SkillsExtension implements Extension {
  #session: SessionState | undefined;
  #promptFiles: readonly PromptFile[] = [];

  get agents(): PromptFile[] {
    return this.#promptFiles.filter(({ kind }) => kind === "agent");
  }

  subAgent(name: string): PromptFile | undefined {
    return withName(this.agents, name);
  }

  /** Returns the tools. The one that reads files also reads skills, so that the model needs no extra tool. */
  tools(own: readonly Tool[]): readonly Tool[] {
    return own.map((tool) =>
      tool !== fileTool ? tool : {
        ...tool,
        run: (args, context, prepared) =>
          this.#read(args, context) ?? tool.run(args, context, prepared),
      }
    );
  }

  async find({ agent, permissions, extensions }: SessionState): Promise<LoadedPromptFiles> {
    const places = [
      ...promptFolders(agent.state.workingDir, permissions.variables),
      ...pluginsOf(extensions).flatMap((plugin) => plugin.places),
    ];
    if (places.length === 0) return { promptFiles: [], problems: [] };
    return await loadPromptFiles(places, permissions.paths);
  }

  /** Replaces the skills, commands and sub-agents, and lists them in the prompt. Other commands take precedence. */
  use(session: SessionState, { promptFiles, problems }: LoadedPromptFiles): void {
    if (promptFiles.length + problems.length + this.#promptFiles.length === 0) return;
    this.#session = session;
    this.#promptFiles = promptFiles;
    const list = (...room: [number, number]) => this.#catalogue(...room);
    // A list with only sub-agents is short, and useless without their tool.
    session.agent.plugCatalogue(
      promptFiles.length > 0 ? list : undefined,
      ...promptFiles.some(({ kind }) => kind === "skill") ? [] : [0],
    );
    const taken = this.#taken;
    const hidden = promptFiles.filter(({ kind, name, isForModel }) =>
      kind === "command" && taken.has(name) && !isForModel
    ).map(({ path }) => ({ path, why: "a built-in command has this name" }));
    // copilot plugin reports those of plug-ins, which the user cannot change.
    const own = problems.filter(({ plugin }) => plugin === undefined);
    const lines = [...own, ...hidden].map(({ path, why }) => `${path} is ignored: ${why}`);
    // A folder of strangers may have thousands.
    const more = lines.splice(MAX_NAMED).length;
    if (more > 0) lines.push(`${count(more, "more file")} ignored`);
    if (lines.length > 0) session.tell("prompt_files", ...lines);
  }

  /** The names of the other commands, also of those that servers bring later. */
  get #taken(): Set<string> {
    return new Set(commandsOf(this.#session!, this).map(({ name }) => name));
  }

  get #agent(): CopilotAgent {
    return this.#session!.agent;
  }

  get #skills(): PromptFile[] {
    return this.#promptFiles.filter(({ kind, isForModel }) => kind === "skill" && isForModel);
  }

  get #forPerson(): PromptFile[] {
    return this.#promptFiles.filter(({ isForPerson }) => isForPerson);
  }

  #catalogue(contextLength: number, maxBytes: number): string {
    const share = contextLength * CATALOGUE_SHARE * CHARS_PER_TOKEN;
    const isOffered = this.#agent.offered.some(({ name }) => name === EXPLORE);
    const agents = isOffered ? this.agents : [];
    return promptCatalogue(this.#skills, agents, Math.min(share, maxBytes));
  }

  commands(): readonly Command[] {
    const all = this.#forPerson;
    const taken = all.length > 0 ? this.#taken : undefined;
    return all.filter(({ name }) => !taken!.has(name)).map(({ name, description, argument }) => ({
      name,
      group: "Work",
      help: description,
      ...argument !== undefined && { argument },
      run: (_, typed) => ({
        type: "turn",
        parts: [{ type: "text", text: `/${name}${typed && ` ${typed}`}` }],
      }),
    }));
  }

  expands(line: string) {
    const typed = commandIn(line);
    const promptFile = typed && withName(this.#forPerson, typed.name);
    if (!promptFile || this.#taken.has(promptFile.name)) return undefined;
    return (part: TextPart, signal: AbortSignal): Promise<Part[]> =>
      this.#open(promptFile, part, typed.argument, signal);
  }

  /** Expands `line`, which starts with `promptFile`. @throws {Error} if a command in it may not run. */
  async #open(
    promptFile: PromptFile,
    line: TextPart,
    argument: string,
    signal: AbortSignal,
  ): Promise<Part[]> {
    const { policy } = this.#session!;
    if (promptFile.kind === "skill") {
      const parts = await this.#attached(line, signal, policy);
      const given = argument === "" ? [] : [notePart(`ARGUMENTS: ${argument}`)];
      return [line, this.#skillPart(promptFile), ...given, ...parts];
    }
    const pieces = fillTemplate(promptFile.body, argument);
    const texts: string[] = [];
    for (const piece of pieces) {
      const isText = "text" in piece;
      texts.push(isText ? piece.text : await this.#output(promptFile, piece.command, signal));
    }
    // An @ in the output of a command attaches no file.
    const own = pieces.map((piece) => "text" in piece ? piece.text : " ").join("");
    // A folder's file is not the user's text: its commands and files need the same approval as the model's calls.
    const asModel: Policy = {
      decide: (tool, args, { isFromUser: _, ...context }) => policy.decide(tool, args, context),
    };
    const by = promptFile.scope === "user" ? policy : asModel;
    const parts = await this.#attached({ type: "text", text: own }, signal, by, true);
    return [line, notePart(texts.join("")), ...parts];
  }

  /** Returns the files that a text names. In a command, an `@` may be code: a name without a file is not reported. */
  async #attached(
    text: TextPart,
    signal: AbortSignal,
    policy: Policy,
    isCommand = false,
  ): Promise<Part[]> {
    const { notice, parts } = await attachFiles(this.#agent, [text], signal, policy);
    if (notice?.code !== "attached") return parts;
    const files = notice.files.filter(({ result }) => !isCommand || result !== "absent");
    const isEmpty = files.length === 0;
    if (!isEmpty) this.#session!.notify({ ...notice, files });
    return parts;
  }

  async #output({ name }: PromptFile, command: string, signal: AbortSignal): Promise<string> {
    const { policy, emit } = this.#session!;
    const context: ToolContext = {
      ...this.#agent.toolContext(signal),
      onOutput: (newest) => emit({ type: "output", newest }),
    };
    const args = { command, timeout_seconds: 120 };
    const decision = await policy.decide(shellTool, args, context);
    if (!decision.allow) {
      const why = decision.explanation ?? decision.reason;
      throw new Error(
        `/${name} is not sent because its command \`${oneLine(command)}\` may not run: ${why}`,
      );
    }
    const { args: given = args, grant, right, prepared } = decision;
    const granted = { ...context, ...grant && { grant }, ...right && { right } };
    const { output, exitCode, content } = outcomeOf(await shellTool.run(given, granted, prepared));
    return exitCode === 0 && output ? output.stdout ?? "" : content;
  }

  #skillPart(skill: PromptFile): Part {
    if (this.#isLoaded(skill)) return notePart(`[Use the skill ${skill.name}, which is above.]`);
    const text = this.#skillText(skill);
    return { type: "resource", kind: "skill", name: skill.name, text };
  }

  #isLoaded({ name }: PromptFile): boolean {
    return this.#agent.state.messages.some(({ parts = [] }) =>
      parts.some((part) => part.type === "resource" && part.kind === "skill" && part.name === name)
    );
  }

  #skillText({ name, path, body }: PromptFile): string {
    const folder = dirname(path);
    const more = attempt(() => [...Deno.readDirSync(folder)].length > 1) === true;
    const files = more
      ? `Its other files: read_file ${SKILL_SCHEME}${name}/PATH; for commands they are in ${folder}\n\n`
      : "";
    const text = truncateMiddle(
      body,
      this.#maxChars,
      (chars) => `\n[${chars} characters left out: read_file ${SKILL_SCHEME}${name}/SKILL.md]\n`,
    );
    return `<skill name=${JSON.stringify(name)}>\n${files}${text}\n</skill>`;
  }

  get #maxChars(): number {
    const { config } = this.#agent;
    const { contextLength = Infinity } = targetOf(config);
    return Math.min(config.maxOutputChars * 0.9, contextLength * SKILL_SHARE);
  }

  /** Reads `skill:NAME`, a file of a skill, or a skill by its path; undefined for other files. */
  #read(args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> | undefined {
    const path = String(args.file_path);
    const isWhole = (args.offset ?? 1) === 1;
    if (!path.startsWith(SKILL_SCHEME)) {
      const real = context.grant?.realPath;
      const skill = isWhole && this.#skills.find((one) => one.path === real);
      return skill ? Promise.resolve(this.#loaded(skill, context)) : undefined;
    }
    const [, name = "", file] = /^([^/]*)(?:\/(.*))?$/s.exec(path.slice(SKILL_SCHEME.length)) ?? [];
    const skills = this.#skills;
    if (name === "") {
      return Promise.resolve({ content: skillList(skills, context.maxOutputChars) });
    }
    const skill = withName(skills, name);
    if (skill === undefined) {
      const names = skills.map((one) => one.name);
      const hint = didYouMean(name, names, `read ${SKILL_SCHEME} for a list`);
      throw new Error(`There is no skill ${oneLine(name)}: ${hint}`);
    }
    if (file === undefined || file === "") return Promise.resolve(this.#loaded(skill, context));
    return this.#readFile(skill, file, args, context);
  }

  #loaded(skill: PromptFile, { subAgent }: ToolContext): ToolOutcome {
    if (!subAgent && this.#isLoaded(skill)) {
      return { content: `The skill ${skill.name} is in the conversation.` };
    }
    return { content: this.#skillText(skill), skill: skill.name };
  }

  async #readFile(
    { name, path }: PromptFile,
    file: string,
    args: Record<string, unknown>,
    context: ToolContext,
  ): Promise<ToolOutcome> {
    const folder = dirname(path);
    const asked = resolve(join(folder, file));
    const real = attempt(() => Deno.realPathSync(asked));
    if (real === undefined) throw new Error(`The skill ${name} has no file ${oneLine(file)}`);
    const isClosed = [asked, real].some((one) =>
      !isWithin(folder, one) || this.#session!.permissions.paths.secretKind(one) !== undefined
    );
    if (isClosed) throw new Error(`${oneLine(file)} is not a file of the skill ${name}`);
    const grant = { realPath: real, withheld: { folder, paths: [] } };
    return outcomeOf(await fileTool.run({ ...args, file_path: real }, { ...context, grant }));
  }
}

function withName(list: readonly PromptFile[], name: string): PromptFile | undefined {
  const wanted = name.toLowerCase();
  return list.find((one) => one.name === wanted);
}
