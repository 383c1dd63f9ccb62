/** Replies of whole answers, for tests of how answers are read. */

import { compatParts } from "../../src/models/openai/response.ts";
import { hostedParts } from "../../src/models/anthropic/response.ts";
import { localParts } from "../../src/models/ollama/response.ts";
import { type ParseOptions, wholeReply } from "../../src/models/reply.ts";

export const readCompatResponse = (response: unknown, options?: ParseOptions) =>
  wholeReply(compatParts(response), options);
export const readLocalResponse = (response: unknown, options?: ParseOptions) =>
  wholeReply(localParts(response), options);
export const readHostedResponse = (response: unknown) => wholeReply(hostedParts(response));
