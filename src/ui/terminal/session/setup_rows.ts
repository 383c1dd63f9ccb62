/** The rows of setup: servers with their models, hosted APIs, and other choices. @module */

import { isSameModel } from "../../../models/ollama/connection.ts";
import { modelFacts } from "../../../models/model_server.ts";
import type { FoundServer } from "../../../models/servers.ts";
import { oneLine } from "../../../text/one_line.ts";
import { HOW_TO_START, type ServerSettings, settingsOf } from "../../server_settings.ts";

export interface HostedOffer {
  name: string;
  address: string;
  settings: ServerSettings;
  keyIn?: string | undefined;
}

/** The meaning of a row: settings, an API that needs a key, or an address (`""`: to be typed). */
export type SetupPick =
  | { settings: ServerSettings; said: string }
  | { offer: HostedOffer }
  | { address: string };

export const NOTHING_FOUND =
  `No model server found on this machine. Start one, and it is listed here:
${HOW_TO_START}
Or choose:`;

interface Row {
  label: string;
  detail: string;
  value: SetupPick;
  isCurrent?: boolean;
}

/** The server of the session, without `/v1`, and its model. */
export interface CurrentServer {
  url: string;
  model: string;
}

export const isOfServer = ({ address }: HostedOffer, { url }: CurrentServer): boolean =>
  address.replace(/\/v1$/, "") === url;

export const keptText = (place: string, { model }: ServerSettings): string =>
  `${model === undefined ? "" : `${oneLine(model)} at `}${place}`;

export function serverRows(server: FoundServer, current?: CurrentServer): Row[] {
  const { url, state, isNative, models } = server;
  const isOwn = url === current?.url;
  const place = hostShown(url);
  const value = { address: url };
  if (state === "skipped") {
    const detail = `${isOwn ? "current" : "from OLLAMA_HOST"}; not checked yet`;
    return [{ label: place, detail, value, isCurrent: isOwn }];
  }
  if (state === "slow") return [{ label: place, detail: "did not answer in time", value }];
  if (models.length === 0) {
    const detail = isNative ? "Ollama without models: ollama pull qwen3:8b" : "lists no models";
    return [{ label: place, detail, value }];
  }
  return models.map((model) => {
    const settings = settingsOf(server, model);
    const isCurrent = isOwn && isSameModel(model.name, current.model);
    return {
      label: oneLine(model.name),
      detail: [
        place,
        isNative ? "Ollama" : model.server,
        modelFacts(model),
        isCurrent && "current",
      ].filter(Boolean).join(" · "),
      isCurrent,
      value: { settings, said: keptText(place, settings) },
    };
  });
}

export function hostedRow(offer: HostedOffer, current?: CurrentServer): Row {
  const { name, address, keyIn } = offer;
  const key = keyIn === undefined ? "paste a key" : `with the key in ${keyIn}`;
  const isCurrent = current !== undefined && isOfServer(offer, current);
  const detail = [key, hostShown(address), isCurrent && "current"].filter(Boolean).join(" · ");
  return { label: name, detail, value: { offer }, isCurrent };
}

export function lastRows(isFirst: boolean): Row[] {
  const other = { label: "Another server", detail: "type its address", value: { address: "" } };
  const settings = { demo: true } as const;
  const demo = { label: "Demo", detail: "a tour of one minute, without a model" };
  return [other, ...isFirst ? [{ ...demo, value: { settings, said: "" } }] : []];
}

export const hostShown = (address: string): string => oneLine(new URL(address).host);
