/** Deno's additions to system errors: the error number and the failed call. */
const OF_RUNTIME = / \(os error \d+\)(?:: \w+(?: '[^]*')?$)?/;
/** Deno's refusal of a path that requires all permissions, with the flags to give. */
const NO_ACCESS = /^Requires \S+ access to (.+?), run again with .*/s;

/** Deno's prefix when a program cannot be started in its working directory. */
const NO_FOLDER = /^Failed to spawn '.*': failed resolving cwd: .*/s;
/** A part of the program that is loaded on first use. Deno does not try again. */
const NO_PART = /^(?:Import 'file:.*' failed|Module not found "file:.*")\.?$/s;

/** Returns the message of any thrown value, without details for programmers: error numbers, call names, flags. */
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
