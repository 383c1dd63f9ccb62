/** Creates a folder, which is removed with everything in it at the end of the block. */
export function tempFolder(): { path: string } & Disposable {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

/** The same, in which the folder `state` has what the program saves. */
export function folderWithState(): { path: string } & Disposable {
  const folder = tempFolder();
  const before = Deno.env.get("XDG_STATE_HOME");
  Deno.env.set("XDG_STATE_HOME", `${folder.path}/state`);
  return {
    path: folder.path,
    [Symbol.dispose]() {
      if (before === undefined) Deno.env.delete("XDG_STATE_HOME");
      else Deno.env.set("XDG_STATE_HOME", before);
      folder[Symbol.dispose]();
    },
  };
}
