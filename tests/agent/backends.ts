import { CopilotAgent } from "../../src/agent/agent.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import type { TurnEvent } from "../../src/types/event.ts";
import { type StrictServer, strictServer } from "../helpers/strict_server.ts";
import { assertEquals } from "@std/assert";

/** The four ways to reach a model server at `url`, with `more` settings. */
export function allConfigs(url: string, more = {}): [name: string, config: CopilotConfig][] {
  const model = "test";
  const compat = { ...compatConfig({ baseUrl: `${url}/v1`, model }), ...more };
  const local = { ...localConfig({ host: url, model }), ...more };
  const hosted = { ...hostedConfig({ baseUrl: url, model, apiKey: "k" }), ...more };
  return [
    ["compat", { compat }],
    ["local native", { local }],
    ["local compatible", { local: { ...local, useCompat: true } }],
    ["hosted", { hosted }],
  ];
}

/** The configuration of one of the four ways, with `more` settings. */
export const configFor = (backend: string, url: string, more = {}): CopilotConfig =>
  allConfigs(url, more).find(([name]) => name === backend)![1];

type AgentOptions = NonNullable<ConstructorParameters<typeof CopilotAgent>[2]>;
type Script = Parameters<typeof strictServer>[0];

/** An agent with a scripted server, and what it reports to `onEvent`. */
export interface Run extends AsyncDisposable {
  agent: CopilotAgent;
  server: StrictServer;
  events: TurnEvent[];
  onEvent: (event: TurnEvent) => void;
  /** The configuration with `more` settings. */
  config(more: object): CopilotConfig;
}

/** Starts a server with a script, and an agent that asks it in one of the four ways. */
export function scripted(
  steps: Script,
  { backend = "local native", settings = {}, folder = "/", ...options }: AgentOptions & {
    backend?: string;
    settings?: object;
    folder?: string;
  } = {},
): Run {
  const server = strictServer(steps);
  const config = (more: object) => configFor(backend, server.url, more);
  const events: TurnEvent[] = [];
  return {
    agent: new CopilotAgent(config(settings), folder, options),
    server,
    events,
    onEvent: (event) => events.push(event),
    config,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const ALL = ["compat", "local native", "local compatible", "hosted"];

/**
 * Returns a function that registers a test for each backend, with agents that have the `usual` options. At the end no
 * request may have been one that a server refuses.
 */
export const onAllWith = (usual: Parameters<typeof scripted>[1]) =>
(
  name: string,
  steps: Script | (() => Script),
  body: (run: Run) => Promise<void>,
  { backends = ALL, ...options }: Parameters<typeof scripted>[1] & { backends?: string[] } = {},
): void => {
  for (const backend of backends) {
    Deno.test(`${name} (${backend})`, async () => {
      const script = typeof steps === "function" ? steps() : steps;
      await using run = scripted(script, { ...usual, ...options, backend });
      await body(run);
      assertEquals(run.server.requests.map(({ problem }) => problem).filter(Boolean), []);
    });
  }
};

/** The texts of the notices among `events`. */
export const noticesIn = (events: readonly TurnEvent[]): string[] =>
  events.flatMap((event) => event.type === "notice" ? event.message : []);

/** The text that a person sees. */
export const shownIn = (events: readonly TurnEvent[]): string =>
  events.map((event) => event.type === "text_delta" ? event.text : "").join("");
