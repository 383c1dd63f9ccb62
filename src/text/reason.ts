/** Why something failed, for a person. @module */

/** What the runtime adds to an error of the system: its number, and the call that failed. */
const OF_RUNTIME = / \(os error \d+\)(?:: \w+(?: '[^]*')?$)?/;
/** Deno's refusal of a place that no program may use without all its rights, with the flags to give. */
const NO_ACCESS = /^Requires \S+ access to (.+?), run again with .*/s;

/** A program is started by Deno with a look at its own folder, where no other one is named. */
const NO_FOLDER = /^Failed to spawn '.*': failed resolving cwd: .*/s;
/** A part of the program was loaded when it was needed; Deno does not try again. */
const NO_PART = /^(?:Import 'file:.*' failed|Module not found "file:.*")\.?$/s;

/**
 * The message of what was thrown, which may be anything, without what the runtime adds for
 * programmers: numbers of the system, names of calls, flags.
 */
export function reasonOf(error: unknown): string {
  try {
    const message = String((error as Error | undefined)?.message ?? error);
    return message.replace(OF_RUNTIME, "").replace(NO_ACCESS, "$1 is closed to this program")
      .replace(NO_PART, "a part of this program could not be read: quit copilot and start it again")
      .replace(NO_FOLDER, "the folder that the program was started in was removed");
  } catch {
    return "";
  }
}
