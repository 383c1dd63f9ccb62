/** Creates a folder, which is removed with everything in it at the end of the block. */
export function tempFolder(): { path: string } & Disposable {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}
