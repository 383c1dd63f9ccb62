import type { FolderLooks } from "../../src/safety/folder_looks.ts";

let found: readonly string[] | undefined;

/** Lets a test file search the system's folders for secrets once, not in each test: that takes 0.1 s of CPU time. */
export function sharingSystem(looks: FolderLooks): FolderLooks {
  return Object.defineProperty(looks, "systemSecrets", {
    get: () => found,
    set: (secrets) => found = secrets,
  });
}
