/** Answers one prompt without a terminal: the answer on stdout, progress on stderr. @module */

import { BackendError } from "../../errors.ts";
import { type Frontend, PLAIN_SURFACE, type SessionEvent } from "../../session/frontend.ts";
import type { Notice } from "../../session/data.ts";
import { failureText } from "../../session/hint_text.ts";
import { commandIn } from "../../session/commands/command_line.ts";
import type { Session } from "../../session/session.ts";
import { shortName } from "../../records/store.ts";
import type { Output } from "../terminal/stdio.ts";
import { oneLine } from "../../text/one_line.ts";
import { typedIn } from "../../text/parts.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import type { Part } from "../../types/message.ts";
import type { ToolExecution, TurnEvent } from "../../types/event.ts";
import { EXIT } from "../../exit_codes.ts";
import { noticeLines } from "../../session/notices.ts";
import { jobEnded, progressLine } from "../progress.ts";
import { instructionLines } from "../../extensions/instructions/instruction_lines.ts";
import { resumedLines } from "../../session/resumed_lines.ts";
import { type Format, jsonLine, type ResultLine, resultLine } from "./json_output.ts";

interface PrintOptions {
  format: Format;
  stdout: Output;
  stderr: Output;
  /** True if either one is a terminal, so that the answer has to be sanitised. */
  isTerminal: boolean;
  /** True if the answer must match a schema. One that does not is not printed. */
  isChecked?: boolean;
  signal: AbortSignal;
  /** The exit code of a turn ended by `signal`. */
  stopCode: () => number;
}

/** Prints the answer to one prompt. Calls that need approval are refused. */
export class PrintFrontend implements Frontend {
  readonly showsStatus = false;
  readonly surface: Required<Frontend>["surface"] = { ...PLAIN_SURFACE, kind: "flags" };
  readonly #executions: ToolExecution[] = [];
  readonly #startedAt = performance.now();
  #hasStreamed = false;
  /** The kinds of events that were reported. Some are repeated too often to report each. */
  readonly #reported = new Set<string>();
  #isInTurn = false;
  /** The answer, or its beginning if the turn failed. */
  answer = "";
  #session: Session | undefined;

  constructor(private readonly options: PrintOptions) {}

  onEvent(event: SessionEvent): void {
    switch (event.type) {
      case "status":
      case "output":
      case "call_delta":
      case "prompt_progress":
      case "command_progress":
      case "rule_added":
        return;
      case "job_ended":
        return this.#onTurnEvent({ type: "notice", level: "info", message: jobEnded(event.job) });
      case "instructions":
        return this.#say(instructionLines(event.instructions, "flags"));
      case "resumed":
        return this.#say(resumedLines(event.resumed, "flags"));
      case "session_notice":
        return this.#onNotice(event.notice);
    }
    this.#onTurnEvent(event);
  }

  #onNotice(notice: Notice): void {
    for (const message of noticeLines(notice, "flags")) {
      const code = notice.code === "extension" ? notice.kind : notice.code;
      // Notices printed while opening are not part of the event stream.
      if (this.#isInTurn) this.#onTurnEvent({ type: "notice", level: "info", code, message });
      else this.#say([`· ${message}`]);
    }
  }

  #say(lines: readonly string[]): void {
    const { format, stdout, stderr } = this.options;
    if (format === "text" && stdout.midLine) stdout.write("\n");
    for (const line of lines) stderr.line(line);
  }

  ready(): Promise<void> | undefined {
    return this.options.stdout.room();
  }

  /** Opens the session, runs `prompt` and reports the outcome. Returns the exit code. */
  async run(session: Session, prompt: string | readonly Part[]): Promise<number> {
    const { format, signal, stdout } = this.options;
    await session.open(signal);
    const line = typeof prompt === "string" ? prompt : typedIn(prompt);
    const name = commandIn(line)?.name;
    if (name && !session.expands(line)) {
      this.#say([`· No skill or command /${oneLine(name)} is in use: the prompt is sent as it is`]);
    }
    const recordName = session.record?.name;
    if (format === "stream-json" && recordName !== undefined) {
      stdout.write(jsonLine({ type: "session", session_id: shortName(recordName) }));
    }
    this.#session = session;
    this.#isInTurn = true;
    try {
      const result = await session.prompt(prompt, signal);
      const { stopReason, response, inputTokens, outputTokens, check } = result;
      const usage = { inputTokens, outputTokens };
      const { isUnanswered, objection } = result;
      const said = isUnanswered ? "" : response;
      if (isUnanswered && stopReason === "done" || objection !== undefined) {
        const mismatch = `the answer does not match the schema: ${objection}`;
        const error = isUnanswered ? "the model gave no answer" : mismatch;
        this.#say([`copilot: ${error}`]);
        return this.#finish({ exitCode: EXIT.error, response: said, error, usage });
      }
      // A missing sandbox refuses a command only when it runs.
      const wasRefused = session.refusals > 0 ||
        result.toolExecutions.some(({ outcome }) => outcome === "refused");
      const byCheck = check && (check.passed ? EXIT.done : EXIT.check);
      const ended = byCheck ?? (wasRefused ? EXIT.refused : EXIT.done);
      const exitCode = stopReason === "done" ? ended : EXIT.limit;
      if (exitCode === EXIT.check) {
        this.#say([`copilot: check: ${oneLine(`${check!.command} ${check!.reason}`)}`]);
      }
      return this.#finish({ exitCode, response, stopReason, usage, ...check && { check } }, said);
    } catch (error) {
      const message = failureText(error, session.agent.config, "flags");
      const response = error instanceof BackendError ? error.partialText : "";
      const exitCode = this.#finish({ exitCode: EXIT.error, response, error: message });
      this.#say([`copilot: ${message}`]);
      return exitCode;
    }
  }

  #onTurnEvent(event: TurnEvent): void {
    const { format, stdout } = this.options;
    const exec = event.type === "tool_done" ? withoutOutput(event.exec) : undefined;
    if (exec) this.#executions.push(exec);
    if (format === "stream-json") return stdout.write(jsonLine(exec ? { ...event, exec } : event));
    if (event.type === "text_delta" && format === "text") {
      if (this.options.isChecked) return;
      this.#hasStreamed = true;
      return stdout.write(this.#shown(event.text));
    }
    this.#progress(event);
  }

  #progress(event: TurnEvent): void {
    const name = this.#session?.record?.name;
    const goOn = name && `To continue: copilot --resume ${shortName(name)} -p "go on"`;
    const progress = progressLine(event, goOn ?? "");
    if (progress === undefined) return;
    const isOnce = event.type === "loading" || event.type === "tool_call_recovered";
    if (isOnce && this.#reported.has(event.type)) return;
    this.#reported.add(event.type);
    this.#say([progress]);
  }

  #shown(text: string): string {
    return this.options.isTerminal ? sanitizeProse(text) : text;
  }

  /** @param said The answer of the model; `response` may be a note in its place. */
  #finish(
    result: Pick<ResultLine, "exitCode" | "response"> & Partial<ResultLine>,
    said = result.response,
  ): number {
    const { format, stdout, signal, stopCode } = this.options;
    const exitCode = signal.aborted ? stopCode() : result.exitCode;
    this.answer = said;
    if (format === "text") {
      const isWithheld = this.options.isChecked && result.stopReason !== "done";
      if (!this.#hasStreamed && !isWithheld) stdout.write(this.#shown(said));
      if (stdout.midLine) stdout.write("\n");
    } else {
      const { path, isBehind = true } = this.#session?.record?.file ?? {};
      stdout.write(resultLine({
        ...path !== undefined && !isBehind && { session_id: shortName(path) },
        ...result,
        exitCode,
        toolExecutions: this.#executions,
        durationMs: Math.round(performance.now() - this.#startedAt),
      }));
    }
    return exitCode;
  }
}

/** Returns the session entry of a call without images, and without the output that `result` contains. */
function withoutOutput({ details, images: _, ...exec }: ToolExecution): ToolExecution {
  if (details === undefined) return exec;
  const { output: _output, ...others } = details;
  return { ...exec, ...Object.keys(others).length > 0 && { details: others } };
}
