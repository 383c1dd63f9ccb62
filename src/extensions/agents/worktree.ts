/** The worktree of a sub-agent: a private copy of the user's files, whose changes are applied as edits. @module */

import { gitWorkTree, makeRepository } from "../../safety/git_queries.ts";
import { OPEN_ALL, runInPlace, waitTime } from "../../safety/in_place.ts";
import { entryAt } from "../../safety/places.ts";
import { repositoryAround } from "../../safety/repositories.ts";
import { makeOwnFolder } from "../../safety/sandbox/own_folder.ts";
import type { Approval } from "../../safety/approval.ts";
import { accessAt } from "../../safety/view.ts";
import type { SessionState } from "../../session/extension.ts";
import { changesSince, type FolderSnapshot, readNow, snapshotOf } from "../../session/snapshot.ts";
import { exchangeOne } from "../../session/undo.ts";
import { isWithin } from "../../text/paths.ts";
import { count } from "../../text/count.ts";
import { digestOf } from "../../text/digest.ts";
import { escapeRegex } from "../../text/glob.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import { basename, dirname, join, relative } from "../../text/std_path.ts";
import { equalBytes, utf8Text } from "../../text/utf8.ts";
import { comparedWhole } from "../../tools/files/change.ts";
import { writeThroughEditor } from "../../tools/files/editor_text.ts";
import { MAX_DIGESTED_BYTES } from "../../tools/files/seen_files.ts";
import { atProgramEnd } from "../../tools/shell/program_end.ts";
import { writeTool } from "../../tools/write_file.ts";
import { EXPLORE } from "../../tools/explore.ts";
import type { ToolExecution } from "../../types/event.ts";
import type { Change, Grant, ToolContext } from "../../types/tool.ts";

const MAX_COPIED_FILES = 20_000;
const MAX_COPIED_BYTES = 60 * 1024 * 1024;
/** Folders of packages, which worktrees share for reading. */
const SHARED_PACKAGES = ["node_modules", ".venv", "venv"];

/** A change of a file. A missing file has no content. */
interface FileEdit extends Record<"before" | "after", Uint8Array | undefined> {
  path: string;
}

export type Worktree = Awaited<ReturnType<typeof makeWorktree>>;

/** Copies the repository around the session's folder. @throws {Error} with a line for the model, if that fails. */
export async function makeWorktree({ agent, permissions }: SessionState, signal: AbortSignal) {
  const origin = agent.state.workingDir;
  const { homes, home } = permissions.paths;
  const [top] = repositoryAround(origin, homes);
  const { view, programs = [] } = await permissions.toCopy(origin) ?? {};
  const source = { folder: top ?? "", root: origin, programs, home, time: waitTime() };
  const noSandbox = view ? undefined : "has no sandbox for commands";
  const tree = top ? noSandbox ?? gitWorkTree(source) : "is in no repository of git";
  const refuse = (why: string) => new Error(`Cannot make a worktree of ${origin} as it ${why}`);
  if (!top || !view || typeof tree === "string") throw refuse(String(tree));
  if (!/read|write/.test(accessAt(view, tree.objects))) throw refuse("is in a hidden repository");
  const names = tree.names.filter((name) => accessAt(view, join(top, name)) !== "hidden");
  const size = names.reduce((sum, name) => sum + (entryAt(join(top, name))?.size ?? 0), 0);
  const isSmall = view.isComplete && names.length <= MAX_COPIED_FILES && size <= MAX_COPIED_BYTES;
  if (!isSmall) throw refuse("is too large");
  using stack = new DisposableStack();
  const own = makeOwnFolder((remove) => {
    stack.defer(atProgramEnd(remove));
    stack.defer(remove);
  });
  const copyOf = (at: string) => join(own, "tree", basename(top), relative(top, at));
  // While a job runs, git may list files behind a link.
  const links = new Set<string>();
  const isBehindLink = (path: string): boolean =>
    path !== "." && (links.has(path) || isBehindLink(dirname(path)));
  for (const name of names) {
    signal.throwIfAborted();
    if (!isBehindLink(name) && await copyFile(top, name, copyOf(top))) links.add(name);
  }
  const folder = copyOf(origin);
  if (isBehindLink(relative(top, origin))) throw refuse("is replaced by a link");
  Deno.mkdirSync(folder, { recursive: true });
  makeRepository({ ...source, folder: copyOf(top) }, tree);
  const packages = [top, origin].flatMap((at) => SHARED_PACKAGES.map((name) => join(at, name)))
    .filter((at) => entryAt(at)?.isDirectory && !entryAt(copyOf(at)));
  // The copy hides the files in them that the session's commands cannot see.
  const hidden = [...view.places].filter(([at, access]) =>
    (access === "hidden" || view.texts?.has(at)) && packages.some((one) => isWithin(one, at))
  ).map(([at]) => [at, "hidden"] as const);
  const reads = [tree.objects, ...packages].map((at) => [at, "read"] as const);
  for (const at of new Set(packages)) Deno.symlinkSync(at, copyOf(at));
  const copy = { at: folder, of: origin, reads: new Map([...reads, ...hidden]) };
  const { confine, remove } = permissions.addCopy(copy, own);
  stack.defer(remove);
  const before = await snapshotOf(folder);
  const all = stack.move();
  return {
    context: { workingDir: folder, confine, env: permissions.env, isIsolated: true } as const,
    changes: () => changesIn(folder, origin, before),
    asCopy: (text: string) => withPath(text, origin, folder),
    asOrigin: (text: string) => withPath(text, folder, origin),
    [Symbol.dispose]: () => all.dispose(),
  };
}

/** Copies a file or a link, unless it has gone or this user cannot read it. True if it is a link. */
async function copyFile(top: string, name: string, root: string): Promise<boolean> {
  const [from, to] = [join(top, name), join(root, name)];
  const { isFile, isSymlink, mode } = entryAt(from) ?? {};
  const bytes = isFile && await contentIn(top, name).catch(() => undefined);
  Deno.mkdirSync(dirname(to), { recursive: true });
  if (isSymlink) Deno.symlinkSync(Deno.readLinkSync(from), to);
  if (bytes) Deno.writeFileSync(to, bytes, { mode: (mode ?? 0) & 0o777 | 0o600 });
  return isSymlink === true;
}

const contentIn = async (folder: string, path: string) =>
  entryAt(join(folder, path)) && await readNow(join(folder, path), folder);

const withPath = (text: string, from: string, to: string) =>
  text.replaceAll(new RegExp(`${escapeRegex(from)}(?![\\w.-]*\\w)`, "g"), () => to);

const isSameContent = (a: Uint8Array | undefined, b: Uint8Array | undefined) =>
  a && b ? equalBytes(a, b) : a === b;

/** Compares a copy with what was copied. `conflicts` have changed in the session's folder, too. */
async function changesIn(folder: string, origin: string, before: FolderSnapshot) {
  const changes = { edits: [] as FileEdit[], conflicts: [] as string[], others: [] as string[] };
  runInPlace(folder, OPEN_ALL);
  const now = await snapshotOf(folder, before);
  if (!now.files) throw new Error("The sub-agent made too many files");
  const changed = changesSince(before, now).sort((a, b) => a.path < b.path ? -1 : 1);
  for (const { path: at, bytes: before } of changed) {
    const [path, info] = [relative(folder, at), entryAt(at)];
    const isOther = info && (!info.isFile || info.size > MAX_DIGESTED_BYTES);
    if (isOther || typeof before === "string" || typeof before === "function") {
      changes.others.push(path);
      continue;
    }
    const after = await contentIn(folder, path);
    if (isSameContent(before, after)) continue;
    // A link or a folder there is a conflict as well.
    const there = await contentIn(origin, path).catch(() => null);
    if (there === null || !isSameContent(before, there)) changes.conflicts.push(path);
    else changes.edits.push({ path, before, after });
  }
  return changes;
}

const NO_BYTES = new Uint8Array();
const listed = (paths: readonly string[]) => shortened(paths.map(oneLine).join(", "), 1000);
const editedNames = (edits: readonly FileEdit[]) => listed(edits.map(({ path }) => path));

/** Applies all changes or no change, once the user or the rules about edits allow it. Returns sentences for the model. */
export async function applyChanges(
  session: SessionState,
  worktree: Worktree,
  subAgent: string,
  { signal, callId = "" }: ToolContext,
): Promise<string> {
  const { edits, conflicts, others } = await worktree.changes();
  const left = others.length > 0 ? ` Links and large files are left out: ${listed(others)}.` : "";
  const none = "None of its changes were applied, and they are gone";
  if (conflicts.length > 0) {
    return `${none}: these files changed in the folder meanwhile: ${listed(conflicts)}.${left}`;
  }
  if (edits.length === 0) return `It changed no files.${left}`;
  const context = { ...session.agent.toolContext(signal), callId: `${callId}/apply`, subAgent };
  const { approve, permissions } = session;
  const isAsked = approve !== undefined && !permissions.approvesAll;
  const answer = isAsked && await approve(question(edits, context), signal);
  if (answer && answer.choice === "refuse") {
    return `The user said no to its changes, and they are gone: ${
      editedNames(edits)
    }. ${answer.reason}`;
  }
  // The question was not about a special file, such as settings of an editor.
  const rest: typeof approve = approve &&
    ((asked, signal) =>
      isAsked && asked.isRoutine ? Promise.resolve({ choice: "once" }) : approve(asked, signal));
  const policy = session.policyWith(rest, true);
  // Each is decided once those before it are written: together, files may make a folder a repository of git.
  const allowed = async (edit: FileEdit): Promise<Grant> => {
    const tool = { ...writeTool, prepare: () => ({ change: changeOf(edit) }) };
    const decision = await policy.decide(tool, writeArguments(edit), context);
    const grant = decision.allow && !decision.args ? decision.grant : undefined;
    if (grant?.realPath === join(context.workingDir, edit.path)) return grant;
    throw new Error(decision.allow ? "a hook changes it" : decision.summary ?? decision.reason);
  };
  signal.throwIfAborted();
  const fault = await writeEdits(edits, allowed, context);
  if (fault !== undefined) return `${none}: ${fault}.`;
  session.tell("worktree", `${subAgent}: applied changes of ${editedNames(edits)}`);
  let result = `Its changes were applied to the folder: ${editedNames(edits)}.${left}`;
  const executions = edits.map(executionOf);
  for (const one of executions) result += await session.afterCall(one, executions, signal);
  return result;
}

const writeArguments = ({ path, after }: FileEdit) => ({
  file_path: path,
  content: utf8Text(after ?? NO_BYTES),
});

const changeOf = ({ path, before, after }: FileEdit): Change => ({
  path,
  isNew: before === undefined,
  ...comparedWhole(before ?? NO_BYTES, after ?? NO_BYTES) ?? { morePlaces: 0 },
});

const executionOf = (edit: FileEdit, at: number): ToolExecution => ({
  toolCallId: `applied_${at}`,
  toolName: writeTool.name,
  arguments: writeArguments(edit),
  result: "",
  durationMs: 0,
  isError: false,
  outcome: "done",
  subject: { action: "write", path: edit.path },
  details: { change: changeOf(edit) },
});

function question(edits: readonly FileEdit[], { callId, subAgent }: ToolContext): Approval {
  const [task, previews] = [count(edits.length, "file"), edits.map(changeOf)];
  const lines = previews.flatMap(({ path, isNew, lines }, at) => {
    const what = isNew ? "new" : edits[at]!.after ? "" : "removed";
    const about = [what, lines ? "" : "not shown"];
    const text = ["──", oneLine(path), ...about].filter(Boolean).join(" ");
    return [{ kind: " ", text } as const, ...lines ?? []];
  });
  return {
    call: { id: callId ?? "", name: EXPLORE, arguments: {} },
    subject: { action: "edit", task },
    reason: `changes ${editedNames(edits)}`,
    isRoutine: true,
    isFromUser: false,
    subAgent: subAgent ?? "",
    choices: ["once", "refuse"],
    previews,
    preview: { path: task, isNew: false, lines, morePlaces: 0 },
  };
}

/** Writes all files. If one cannot be written, restores those before it, and returns why. */
async function writeEdits(
  edits: readonly FileEdit[],
  allowed: (edit: FileEdit) => Promise<Grant>,
  usual: ToolContext,
): Promise<string | undefined> {
  // It does not stop halfway.
  const context = { ...usual, signal: new AbortController().signal };
  const grants: Grant[] = [];
  try {
    for (const edit of edits) {
      const grant = await allowed(edit);
      await write(edit, grant, context);
      grants.push(grant);
    }
  } catch (error) {
    for (let at = grants.length; at-- > 0;) {
      const { path, before: after, after: before } = edits[at]!;
      await write({ path, before, after }, grants[at]!, context).catch(() => {});
    }
    return `${oneLine(edits[grants.length]!.path)} may not be written: ${reasonOf(error)}`;
  }
}

/** Writes or removes a file, through the editor if there is one. @throws {Error} if it is not as it was before. */
async function write(edit: FileEdit, grant: Grant, context: ToolContext): Promise<void> {
  const [{ path, before, after }, { realPath }] = [edit, grant];
  const [was, stamp] = [before ? await digestOf(before) : "", after ? await digestOf(after) : ""];
  const isThrough = after &&
    await writeThroughEditor({ ...context, grant }, realPath, path, after, before ?? NO_BYTES);
  if (!isThrough) await exchangeOne(grant, { bytes: after, stamp: was });
  context.onWritten?.({ path: realPath, stamp, ...before && { before: { bytes: before } } });
}
