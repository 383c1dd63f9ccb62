/** Waits on this machine for the browser's redirect after a sign-in. @module */

import { orAborted } from "../../wire/wait.ts";
import type { Authority } from "./oauth_discovery.ts";

/** Listens on the loopback address, on `port` or a free port. Only a redirect with our `state` counts. */
export function waitForCode(
  port: number,
  state: string,
  { issuer, namesIssuer }: Pick<Authority, "issuer" | "namesIssuer">,
) {
  const answer = Promise.withResolvers<string>();
  answer.promise.catch(() => {});
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/callback") return page(404, "There is nothing here.");
    // Any page can send the browser here. Without our state it does not belong to this sign-in.
    if (searchParams.get("state") !== state) {
      return page(400, "This is not the sign-in that waits.");
    }
    try {
      const iss = searchParams.get("iss");
      // RFC 9207: the issuer of the answer must equal the one that was asked.
      if (iss === null ? namesIssuer : iss !== issuer) throw new Error(NOT_ASKED);
      answer.resolve(codeIn(searchParams));
      return page(200, "You are signed in. This window can be closed.");
    } catch (error) {
      answer.reject(error);
      return page(400, "The sign-in failed. copilot says why.");
    }
  });
  return {
    address: `http://127.0.0.1:${server.addr.port}/callback`,
    /** Returns the code of the redirect. @throws {Error} if it is missing, or if it cannot be trusted. */
    code: (signal: AbortSignal) => orAborted(answer.promise, signal),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const NOT_ASKED = "the answer to the sign-in is not from the authorization server that was asked";

function codeIn(params: URLSearchParams): string {
  const error = params.get("error");
  if (error !== null) {
    throw new Error(`the sign-in was refused: ${error.replace(/[^\w.-]/g, " ").slice(0, 100)}`);
  }
  const code = params.get("code");
  if (code === null) throw new Error("the answer to the sign-in has no code");
  return code;
}

const page = (status: number, text: string): Response =>
  new Response(`${text}\n`, { status, headers: { connection: "close" } });
