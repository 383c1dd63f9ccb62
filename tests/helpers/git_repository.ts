/** A repository in which tests run commands of git in the sandbox. */

import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { noticeLines } from "../../src/session/notices.ts";
import type { SessionEvent } from "../../src/session/frontend.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import type { SandboxMode } from "../../src/safety/settings.ts";
import type { Right } from "../../src/types/confine.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import { runInBackground } from "../../src/tools/shell/background.ts";
import { jobStore } from "../../src/tools/shell/jobs.ts";
import { sharingSystem } from "./system_secrets.ts";
import { testUnless } from "./test_unless.ts";

const found = await findSandbox();
export const ignore = typeof found === "string" || found.by !== "bubblewrap";
export const test = testUnless(ignore);
export const tool = builtinTools.find(({ name }) => name === "run_bash")!;

/** A folder with a repository; commands run there as in a session in mode `auto`. */
export async function repository(sandbox: SandboxMode = "workspace-write") {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const folder = `${base}/work`;
  const own = `${base}/home/.config/copilot`;
  for (const at of [own, folder, `${base}/listed`]) await Deno.mkdir(at, { recursive: true });
  const listed = JSON.stringify({ sandboxWrite: [`${base}/listed`] });
  await Deno.writeTextFile(`${own}/permissions.json`, listed);
  await Deno.writeTextFile(
    `${base}/home/.gitconfig`,
    "[user]\nname = Ann\nemail = a@b.c\n[maintenance]\nauto = false\n",
  );
  const outside = async (line: string) => {
    const { stdout } = await new Deno.Command("sh", {
      ...{ args: ["-c", line], cwd: folder, clearEnv: true },
      env: { HOME: `${base}/home`, PATH: Deno.env.get("PATH")! },
      // git waits at a pipe without end.
      signal: AbortSignal.timeout(20_000),
    }).output();
    return new TextDecoder().decode(stdout);
  };
  await outside("git init -qb main . && echo a > a && git add a && git commit -qm one");
  await Deno.writeTextFile(
    `${folder}/evil.sh`,
    `touch '${folder}/ran'; touch '${base}/pwned'; cat >/dev/null; exit 0\n`,
  );
  // As in an activated environment of Python.
  const PATH = `${folder}/.venv/bin:${Deno.env.get("PATH")}`;
  const env: Record<string, string> = { HOME: `${base}/home`, PATH };
  const permissions = openPermissions(
    { approve: "auto", sandbox },
    (name) => env[name],
  );
  sharingSystem(permissions.looks);
  const { signal } = new AbortController();
  let programs: readonly string[] | undefined;
  const notices: string[] = [];
  const onEvent = (event: SessionEvent) => {
    if (event.type === "session_notice") notices.push(...noticeLines(event.notice, "flags"));
  };
  const refuse = () => Promise.resolve({ choice: "refuse", reason: "" } as const);
  permissions.frontend = { approve: refuse, onEvent };
  /** The reason of the question, or what the command printed. */
  const run = async (
    command: string,
    {
      folder: workingDir = folder,
      inBackground = false,
      isDecided = false,
      right,
      leave,
      beforeYes,
    }: {
      folder?: string;
      isDecided?: boolean;
      beforeYes?: () => Promise<unknown>;
      inBackground?: boolean;
      right?: Right;
      leave?: "network" | "sandbox";
    } = {},
  ) => {
    workingDir = await Deno.realPath(workingDir);
    let asked: string | undefined;
    const policy = permissions.policy(async ({ reason, programs: named }) => {
      asked = reason;
      programs = named;
      await beforeYes?.();
      return beforeYes ? { choice: "once" } : { choice: "refuse", reason: "" };
    });
    const confine = permissions.confine(() => workingDir);
    const env = ["GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL"];
    const context = { workingDir, maxOutputChars: 4000, signal, confine, env };
    const decision = await policy.decide(
      tool,
      { command, ...leave && { leave, reason: "x" } },
      context,
    );
    if (!decision.allow && !isDecided) return beforeYes ? decision.reason : `asked: ${asked}`;
    right ??= decision.allow ? decision.right : undefined;
    await using jobs = jobStore();
    const given = { ...context, jobs, ...right && { right } };
    const ran = inBackground
      ? await runInBackground({ command }, given, 300_000)
      : await tool.run({ command, timeout_seconds: 60 }, given);
    return typeof ran === "string" ? ran : ran.content;
  };
  return {
    ...{ base, folder, outside, run, permissions, notices },
    programs: () => programs,
    allow: (rule: string) => permissions.allow({ rule }, folder),
    has: (path: string) => {
      try {
        return Deno.lstatSync(`${base}/${path}`) !== undefined;
      } catch {
        return false;
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

export const COMMIT = "git commit -q --allow-empty -m x";
export const AT_X =
  "git init -q x; git -C x -c user.name=a -c user.email=b commit -q --allow-empty -m y";
