/** The settings an editor may change: mode, model, thinking (schema `SessionConfigOption`). @module */

import { THINK_LEVELS, type Thinking } from "../../config.ts";
import { targetOf, withModel } from "../../models/target.ts";
import { APPROVE_MODES, type ApproveMode } from "../../safety/settings.ts";
import { invalidParams } from "../../rpc/message.ts";
import { modelChoices } from "../../session/commands/model.ts";
import type { ArgumentChoice } from "../../session/data.ts";
import type { Status } from "../../session/frontend.ts";
import type { Session } from "../../session/session.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { modeMeaning, modeName } from "../../session/modes.ts";

type OptionValue = { value: string; name: string; description?: string };

/** The timeout for a server's list of models, in milliseconds. */
const MODELS_MS = 1000;
/** The values of the thinking option by name. With `default`, the server decides. */
const THINKING = new Map<string, Thinking | undefined>([
  ...[["default", undefined], ["off", false], ["on", true]] as const,
  ...THINK_LEVELS.map((level) => [String(level), level] as const),
]);

export const modeIn = ({ mode }: Status): ApproveMode => mode?.approve ?? "ask";

export class ConfigOptions {
  #models: readonly ArgumentChoice[] = [];

  constructor(private readonly session: Session) {}

  /** Asks the server for its models. If it does not answer, only the current one is offered. */
  async loadModels(): Promise<void> {
    this.#models = await modelChoices(this.session, AbortSignal.timeout(MODELS_MS))
      .catch(() => []);
  }

  list(status: Status = this.session.status) {
    const { agent } = this.session;
    const model = status.model ?? targetOf(agent.config).name;
    const models = this.#models.map(({ argument, detail }): OptionValue => ({
      value: argument,
      name: argument,
      ...detail && { description: detail },
    }));
    if (!models.some(({ value }) => value === model)) models.unshift({ value: model, name: model });
    const modes = this.modes.map(({ id, ...mode }): OptionValue => ({ value: id, ...mode }));
    const names = [...THINKING.keys()];
    const thinking = names.map((value): OptionValue => ({ value, name: value }));
    const { think } = agent.config.local ?? agent.config.hosted ?? agent.config.compat!;
    return [
      { id: "mode", name: "Mode", category: "mode", currentValue: modeIn(status), options: modes },
      { id: "model", name: "Model", category: "model", currentValue: model, options: models },
      {
        id: "thinking",
        name: "Thinking",
        category: "thought_level",
        currentValue: names.find((name) => THINKING.get(name) === think)!,
        options: thinking,
      },
    ].map((option) => ({ ...option, type: "select" }));
  }

  /** The modes in the order of editors, the most careful one last. */
  get modes(): { id: ApproveMode; name: string; description: string }[] {
    return APPROVE_MODES.toReversed().map((id) => (
      { id, name: modeName(id), description: modeMeaning(id) }
    ));
  }

  /** Sets an option. @throws {RpcError} if the option or the value does not exist. */
  async set(id: unknown, value: unknown, signal: AbortSignal): Promise<void> {
    const option = this.list().find((one) => one.id === id);
    if (option === undefined) {
      throw invalidParams(`there is no option ${shortened(oneLine(String(id)), 100)}`);
    }
    if (!option.options.some((one) => one.value === value)) {
      throw invalidParams(`${option.id} has no value ${shortened(oneLine(String(value)), 100)}`);
    }
    const { agent } = this.session;
    const { config } = agent;
    if (id === "mode") {
      const answer = await this.session.command("approve", String(value), signal);
      if (modeIn(this.session.status) !== value) throw invalidParams(String(answer));
    } else if (id === "thinking") {
      agent.configure(withModel(agent.config, { think: THINKING.get(String(value)) }));
    } else {
      const answer = await this.session.command("model", String(value), signal);
      if (agent.config === config) throw invalidParams(String(answer));
    }
  }
}
