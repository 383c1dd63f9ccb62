/**
 * What a person is told about the permissions of a run, as data.
 *
 * @module
 */

import type { RuleEffect } from "../permissions/rules.ts";
import type { ApproveMode, SandboxMode } from "../permissions/settings.ts";

/** Something that a person is told about the permissions of a run. */
export interface PermissionNotice {
  code:
    /** The folder brings settings of servers or keys, which do not count. */
    | "settings_unheeded"
    /** A variable that commands are to get is the model's key, which they never get. */
    | "key_withheld"
    /** A project's file makes the settings stricter. */
    | "project_stricter"
    /** A project's file would loosen the settings; these parts do not count. */
    | "project_ignored"
    /** Commands are to be confined and cannot be, so they are refused. */
    | "sandbox_missing"
    /** Commands run unconfined, and nobody said that they should. */
    | "sandbox_off";
  /** The notice in one line. */
  message: string;
}

/** The permissions in force for a folder. */
export interface PermissionReport {
  approve: ApproveMode;
  /** True where calls that would be asked about simply run. */
  yes: boolean;
  sandbox: SandboxMode;
  /** The program that confines commands; left out where none does. */
  enforcedBy?: string;
  /** The reason why nothing confines commands though it should. */
  unenforced?: string;
  /** True where confined commands may use the network. */
  network: boolean;
  /** Variables that commands get though they look like credentials. */
  env: readonly string[];
  rules: readonly { effect: RuleEffect; text: string }[];
  /** The person's own settings file. */
  file?: string;
  /** True or false where the person said whether the folder may instruct the model. */
  trust?: boolean;
}

/** The sandbox of this machine, whether it is wanted or not. */
export interface SandboxStatus {
  mode: SandboxMode;
  network: boolean;
  /** The program that would confine commands, such as `bubblewrap`. */
  by?: string;
  /** The reason why none works here. */
  why?: string;
}
