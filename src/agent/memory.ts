/** The memory of an agent, apart from its conversation. @module */

import type { Message } from "../types/message.ts";

/** The facts that an agent has learned about one model on one server. */
export interface LearnedModel {
  /** The server's count of the newest request, divided by the rough count. */
  ratio: number;
  /** True if reasoning that is sent back counts: many servers and templates drop it. */
  thinks: boolean;
  /** The largest request since the conversation was last shortened, without reasoning. */
  largest?: { rough: number; counted: number };
  /** The size of its context in tokens, if the server has shown it. */
  window?: number;
}

/** A message with its size in tokens, and the length of the text that was counted. */
interface SizedMessage {
  message: Message;
  length: number;
  size: number;
}

export class AgentMemory {
  readonly models: Map<string, LearnedModel> = new Map();
  /** The addresses of servers that do not count the tokens of a request. */
  readonly silentServers: Set<string> = new Set();
  /** True while a turn or a compaction changes the conversation. */
  isBusy: boolean = false;
  /** Sizes by position: a map of messages is slower. */
  readonly sizes: SizedMessage[] = [];

  /** Runs `work` while nothing else changes the conversation. @throws {TypeError} if the agent is busy. */
  async exclusively<T>(action: string, work: () => Promise<T>): Promise<T> {
    if (this.isBusy) {
      throw new TypeError(`Cannot ${action} as the agent is still busy with the turn before`);
    }
    this.isBusy = true;
    try {
      return await work();
    } finally {
      this.isBusy = false;
    }
  }
}
