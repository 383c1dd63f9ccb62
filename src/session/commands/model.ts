import {
  type CopilotConfig,
  isDefaultServer,
  mayBeOwnServer,
  MODEL_ROLES,
  type ModelRoles,
} from "../../config.ts";
import { examScores } from "../../records/exams.ts";
import type { ModelUsed } from "../../records/format.ts";
import { targetOf } from "../../models/target.ts";
import { oneLine } from "../../text/one_line.ts";
import { attempt } from "../../attempt.ts";
import { recordedSessions } from "../record.ts";
import {
  addressOf,
  modelColumns,
  modelFacts,
  modelNames,
  serverOf,
  specName,
} from "../../models/model_server.ts";
import { listedAddress } from "../../server_address.ts";
import type { ArgumentChoice } from "../data.ts";
import { failureText, type UiKind } from "../hint_text.ts";
import type { Command, ModelFlags, SessionState } from "../extension.ts";
import { nearest } from "../../text/nearest.ts";
import { factTexts, unknownText } from "./texts.ts";
import {
  connectionFailure,
  isNative,
  isSameModel,
  onFailure,
} from "../../models/ollama/connection.ts";
import { type ListedModel, listModels } from "../../models/ollama/model_list.ts";
import { modelInstead } from "../fit_model.ts";
import { servedModel } from "../../models/ollama/served_model.ts";

export const modelCommand: Command = {
  name: "model",
  group: "Model",
  argument: "[[ROLE] NAME]",
  help: "list models, or switch to one; ROLE: plan, explore, summary",
  question: "Which model?",
  isSlow: true,
  isListView: true,
  run: (session, argument, signal) =>
    argument === "" ? modelsText(session, signal) : setModel(session, argument, signal),
  choices: modelChoices,
  values: async ({ agent, options: { modelFlags } }, begun) =>
    begun.startsWith("-")
      ? (modelFlags?.names ?? []).map((name) => `${name} `)
      : [...await modelNames(agent.config), ...MODEL_ROLES.map((role) => `${role} `)],
};

export const setupCommand: Command = {
  name: "setup",
  group: "Setup",
  help: "choose another server and model; the choice is saved",
  isSlow: true,
  isOfTerminal: true,
  run: ({ surface: { kind: ui } }) => ({
    type: "setup",
    text: ui === "editor"
      ? "Use the editor for this."
      : "/setup needs an interactive terminal. Use /model --local --host URL or /model --base-url URL.",
  }),
};

const MAX_SPEED_SESSIONS = 30;
const ROLE_ARGUMENT = new RegExp(`^(${MODEL_ROLES.join("|")})(?:\\s+(.*))?$`);

export async function modelChoices(
  session: SessionState,
  signal: AbortSignal = new AbortController().signal,
): Promise<ArgumentChoice[]> {
  const { agent: { config }, probed, cache, surface: { columns } } = session;
  await probed;
  const target = targetOf(config);
  const others = otherChoices(session, signal);
  const at = { ...addressOf(target), signal };
  // Ollama's own list has more facts than its list for OpenAI's clients.
  const hasFacts = () => target.isNative || mayBeOwnServer(target.url) && isNative(at);
  const list = async () => await listModels(await hasFacts(), at, true);
  const group = serverOf(config);
  const seen = usedModels().filter(({ server }) => server === group);
  const speeds = new Map(
    seen.toReversed().flatMap(({ model, writeSpeed }) => writeSpeed ? [[model, writeSpeed]] : []),
  );
  if (cache.writeSpeed) speeds.set(target.name, cache.writeSpeed);
  const known = [target.name, ...seen.map(({ model }) => model)];
  const hosted = async () => [...known, ...await modelNames(config).catch(() => [])];
  const listed = target.kind === "hosted"
    ? [...new Set(await hosted())].map((name): ListedModel => ({ name }))
    : await list().catch(onFailure(() => []));
  const models = usedFirst(
    listed,
    ({ name }) => seen.some(({ model }) => isSameModel(model, name)),
  );
  const scoreOf = examScores();
  const details = factTexts(
    models.map((model) => {
      const speed = speeds.get(model.name);
      const measured = [speed ? `${Math.round(speed)} tok/s` : "", scoreOf(group, model.name)];
      return modelColumns(model).toSpliced(2, 0, ...measured);
    }),
    columns,
  );
  const own = models.map((model, at) => ({
    argument: model.name,
    label: oneLine(model.name),
    detail: details[at]!,
    group,
    isCurrent: isSameModel(model.name, target.name),
  }));
  return [...own, ...await others];
}

const usedFirst = <T>(all: readonly T[], isUsed: (one: T) => boolean): T[] => [
  ...all.filter(isUsed),
  ...all.filter((one) => !isUsed(one)),
];

/** Returns the models of other servers: of those on this machine, of those of roles, and of those that were used. */
async function otherChoices(
  session: SessionState,
  signal: AbortSignal,
): Promise<ArgumentChoice[]> {
  const { agent: { config }, options, roles, surface: { kind: ui } } = session;
  const hostOf = (server: string) =>
    oneLine(URL.parse(server)?.host.replace(/^localhost(?=:|$)/, "127.0.0.1") ?? server);
  const scoreOf = examScores();
  const row = (server: string, name: string, about: string) => {
    const group = hostOf(server);
    const detail = [about, scoreOf(group, name)].filter(Boolean).join(" · ");
    return { argument: `${server}#${name}`, label: oneLine(name), detail, group };
  };
  const ofRoles = Object.entries(roles.models).flatMap(([role, spec]) => {
    const [model = "", server] = spec.split("#").toReversed();
    return server === undefined ? [] : [row(server, model, role)];
  });
  const used = usedModels().flatMap(({ at, model }) => {
    const server = at?.kind === "hosted" ? isDefaultServer("hosted", at.url) && "hosted" : at?.url;
    return server ? [row(server, model, "used before")] : [];
  });
  const current = targetOf(config).url;
  const isOther = (server: string) => hostOf(server) !== hostOf(current);
  const known = [...used, ...ofRoles];
  const servers = [targetOf(options.config).url, ...known.map((one) => one.argument.split("#")[0]!)]
    .filter((one) => URL.canParse(one) && isOther(one) && one !== options.demoUrl);
  // An editor asks for the list whenever a session starts.
  const find = ui === "editor" ? undefined : options.modelFlags?.find;
  const found = await find?.(signal, servers.map(listedAddress)).catch(() => []) ?? [];
  const rows = found.flatMap(({ url, isNative, models }) =>
    models.map((model) => row(isNative ? url : `${url}/v1`, model.name, modelFacts(model)))
  );
  const isIn = (all: readonly ArgumentChoice[], { group, label }: ArgumentChoice) =>
    all.some((one) => one.group === group && one.label === label);
  const choices = [...rows, ...ofRoles, ...used].filter((one, at, all) =>
    one.group !== hostOf(current) && !isIn(all.slice(0, at), one)
  );
  return Object.values(Object.groupBy(choices, ({ group }) => group))
    .flatMap((some = []) => usedFirst(some, (one) => isIn(known, one)));
}

const usedModels = (): ModelUsed[] =>
  attempt(() => [...recordedSessions().take(MAX_SPEED_SESSIONS)])
    ?.flatMap(({ used = [] }) => used) ?? [];

export const atServer = (config: CopilotConfig, model: string): string =>
  `${oneLine(model)} at ${serverOf(config)}`;

async function modelsText(session: SessionState, signal: AbortSignal): Promise<string> {
  const { agent: { config }, surface: { kind: ui } } = session;
  const rows = (await modelChoices(session, signal)).map(({ argument, detail, isCurrent }) =>
    `${isCurrent ? "*" : " "} ${oneLine(argument)}  ${detail}`.trimEnd()
  );
  const how = await modelNames(config)
    .then(() => "Switch with /model NAME.", (error) => unlistedText(error, config, ui));
  return [...rows, `Current: ${atServer(config, targetOf(config).name)}. ${how}`].join("\n");
}

const unlistedText = (error: unknown, config: CopilotConfig, ui: UiKind): string =>
  `The server does not list its models: ${failureText(error, config, ui)}`;

/** Returns the closest name to a model that the server does not list; undefined if it has it, or lists no models. */
async function unlistedName(
  config: CopilotConfig,
  name: string,
): Promise<{ meant: string | undefined } | undefined> {
  // A hosted API has more names for its models than it lists.
  const names = config.hosted ? [] : await modelNames(config).catch(() => []);
  if (names.length === 0 || names.some((one) => isSameModel(one, name))) return undefined;
  const target = targetOf(config);
  // A server such as llama-swap also lists a model under another name.
  const more = target.isNative ? [] : (await servedModel(name, addressOf(target))).names;
  if (more.includes(name)) return undefined;
  return { meant: nearest(name, names) };
}

/** If the user named no model, the agent uses one that its server has, if the choice is clear. */
async function takeServedModel({ agent, fit }: SessionState): Promise<void> {
  const target = fit.targetOf(agent);
  if (fit.isChosen || target.kind === "hosted") return;
  const model = await modelInstead(target, {}).catch(onFailure(() => undefined));
  if (model !== undefined) agent.setModel(model);
}

/** Returns why a server cannot be reached; undefined if it can, or is not asked for its models. */
async function failureToReach(
  config: CopilotConfig,
  ui: UiKind,
  signal: AbortSignal,
): Promise<string | undefined> {
  const target = targetOf(config);
  if (target.kind === "hosted") return undefined;
  const error = await connectionFailure({ ...addressOf(target), signal });
  // Any other failure is a response.
  if (error?.kind !== "connection" && error?.kind !== "timeout") return undefined;
  return failureText(error, config, ui);
}

/** Sets the model of a role, removes it, or only shows it. @throws {Error} if `spec` names no model. */
function setRole(
  { agent, options: { modelFlags }, roles }: SessionState,
  role: keyof ModelRoles,
  spec: string,
): string {
  if (!["", "off"].includes(spec)) modelFlags?.at(spec, agent.config);
  if (spec !== "") roles.away.delete(role);
  if (spec === "off") delete roles.models[role];
  else if (spec !== "") roles.models[role] = spec;
  const now = roles.models[role] ?? "the session's model";
  return `${role}: ${specName(now)} (/model ${role} NAME, or off, changes it)`;
}

/** Switches to another model or, with flags, server. That one must answer. */
async function setModel(
  session: SessionState,
  argument: string,
  signal: AbortSignal,
): Promise<string> {
  const { agent, options: { modelFlags }, fit, surface: { kind: ui } } = session;
  await session.probed;
  const [, role, spec = ""] = ROLE_ARGUMENT.exec(argument) ?? [];
  try {
    if (role !== undefined) return setRole(session, role as keyof ModelRoles, spec);
    if (modelFlags !== undefined && /^-|#/.test(argument)) {
      const { config, isChosen, notice }: ReturnType<ModelFlags["parse"]> = argument.startsWith("-")
        ? modelFlags.parse(argument.split(/\s+/), agent.config)
        : { config: modelFlags.at(argument, agent.config), isChosen: true };
      const isOther = targetOf(config).url !== targetOf(agent.config).url;
      const why = isOther ? await failureToReach(config, ui, signal) : undefined;
      if (why !== undefined) {
        return `Still using ${atServer(agent.config, fit.targetOf(agent).name)}: ${why}`;
      }
      const { maxToolRounds, maxOutputChars, promptTier } = agent.config;
      agent.configure({ maxToolRounds, maxOutputChars, promptTier, ...config });
      fit.isChosen = isChosen;
      await takeServedModel(session);
      if (notice !== undefined) session.notify(notice);
      await fit.prepare(agent, { signal, onNotice: session.notify });
    } else {
      const unlisted = await unlistedName(agent.config, argument);
      // Other servers than Ollama may have more models than they list.
      const isWrong = targetOf(agent.config).isNative || /\s/.test(argument);
      if (unlisted && (isWrong || unlisted.meant !== undefined)) {
        const model = `model ${atServer(agent.config, argument)}`;
        return unknownText(model, "/model", unlisted.meant);
      }
      if (modelFlags === undefined) agent.setModel(argument);
      else agent.configure(modelFlags.at(argument, agent.config));
      fit.isChosen = true;
      fit.reset(agent);
    }
  } catch (error) {
    return failureText(error, agent.config, ui);
  }
  session.usage = session.cache.writeSpeed = undefined;
  return await changedText(session);
}

async function changedText(session: SessionState): Promise<string> {
  const { agent: { config }, fit, surface: { kind: ui } } = session;
  const { name, kind } = targetOf(config);
  const now = `Switched to ${atServer(config, name)}.`;
  if (kind === "hosted") return now;
  try {
    const names = await modelNames(config);
    // If the user named no model, the next message goes to one that the server has.
    if (!fit.isChosen || names.some((one) => isSameModel(one, name))) return now;
    return `${now} The server does not list it; the next message shows if it has it.`;
  } catch (error) {
    return `${now} ${unlistedText(error, config, ui)}`;
  }
}
