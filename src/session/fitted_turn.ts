import type { CopilotAgent } from "../agent/agent.ts";
import { processTurn, type TurnOptions } from "../agent/turn.ts";
import { targetOf } from "../models/target.ts";
import { oneLine } from "../text/one_line.ts";
import { inputParts } from "../text/parts.ts";
import type { TurnEvent, TurnResult } from "../types/event.ts";
import type { Part } from "../types/message.ts";
import type { FitOptions, ModelFit } from "./fit_model.ts";

/** @throws {TypeError} if `input` has images and the model is known not to accept them. */
function checkSight({ seesImages, config }: CopilotAgent, input: string | readonly Part[]): void {
  if (seesImages !== false || !inputParts(input).some(({ type }) => type === "image")) return;
  const name = oneLine(targetOf(config).name);
  throw new TypeError(
    `${name} does not accept images, and nothing was sent: choose a model with vision, or remove the image`,
  );
}

/**
 * Runs a turn with fitted settings, once more if the model or the endpoint is missing. @throws like
 * `processTurn`.
 */
export async function processFittedTurn(
  agent: CopilotAgent,
  fit: ModelFit,
  input: string | readonly Part[],
  options: TurnOptions & FitOptions,
): Promise<TurnResult> {
  const watch = fit.queueWatch(agent, options);
  const onEvent = watch && ((event: TurnEvent) => {
    watch.onEvent(event);
    return options.onEvent?.(event);
  });
  const watched = { ...options, ...onEvent && { onEvent } };
  try {
    await fit.prepare(agent, watched);
    checkSight(agent, input);
    const result = await processTurn(agent, input, watched);
    fit.onAnswer(agent, result, options);
    return result;
  } catch (error) {
    if (!await fit.recover(agent, error, watched)) throw error;
    checkSight(agent, input);
    return await processTurn(agent, input, watched);
  } finally {
    watch?.end();
  }
}
