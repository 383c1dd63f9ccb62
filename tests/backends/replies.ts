/** Replies of whole answers, for tests of how answers are read. */

import { compatParts } from "../../src/backends/compat/response.ts";
import { hostedParts } from "../../src/backends/hosted/response.ts";
import { localParts } from "../../src/backends/local/response.ts";
import { type ParseOptions, wholeReply } from "../../src/backends/reply.ts";

export const readCompatResponse = (response: unknown, options?: ParseOptions) =>
  wholeReply(compatParts(response), options);
export const readLocalResponse = (response: unknown, options?: ParseOptions) =>
  wholeReply(localParts(response), options);
export const readHostedResponse = (response: unknown) => wholeReply(hostedParts(response));
