/** Replies of whole answers, for tests of how answers are read. */

import { compatParts } from "../../src/models/openai/response.ts";
import { hostedParts } from "../../src/models/anthropic/response.ts";
import { localParts } from "../../src/models/ollama/response.ts";
import { wholeReply } from "../../src/models/reply.ts";
import { ToolCallFilter } from "../../src/models/toolcalls/extract.ts";

export const readCompatResponse = (response: unknown) => wholeReply(compatParts(response));
/** @param tools the names of the tools whose calls are read from the text */
export const readLocalResponse = (response: unknown, tools?: string[]) =>
  wholeReply(localParts(response), tools && new ToolCallFilter({ tools }));
export const readHostedResponse = (response: unknown) => wholeReply(hostedParts(response));
