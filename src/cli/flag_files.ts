/** The files that flags name: MCP servers, images, and the file of the answer. @module */

import { UsageError } from "../errors.ts";
import type { McpDefinition } from "../extensions/mcp/definition.ts";
import { attempt } from "../attempt.ts";
import type { Permissions } from "../safety/permissions.ts";
import { repositoryOf } from "../safety/repositories.ts";
import { isWithin } from "../text/paths.ts";
import { reasonOf } from "../text/reason.ts";
import { basename, resolve } from "../text/std_path.ts";
import { writeAtomically } from "../tools/files/atomic_write.ts";
import { grantOfNamed } from "../tools/files/regular_file.ts";
import type { ImagePart } from "../types/image.ts";
import { readJsonFile } from "../user_files.ts";
import type { Args } from "./args.ts";

const unusableFile = (flag: string, path: string, why: string): UsageError =>
  new UsageError(`Cannot use --${flag} ${JSON.stringify(path)}: ${why}`);

/**
 * Returns the servers of `--mcp-config`. If commands may write the file, its servers are those of the folder: the user
 * has to approve them, and they run in the sandbox.
 *
 * @throws {UsageError} if the file has no servers or cannot be read.
 */
export async function serversOf(
  { "mcp-config": path, "working-dir": named = "." }: Args,
  permissions: Permissions,
): Promise<McpDefinition[]> {
  if (path === undefined) return [];
  const { definitionsIn } = await import("../extensions/mcp/definition.ts");
  const value = readJsonFile(path);
  const real = (at: string) => attempt(() => Deno.realPathSync(at)) ?? resolve(at);
  const [file, folder] = [real(path), real(named)];
  const written = [repositoryOf(folder), ...permissions.listedPaths(folder).map(real)];
  const source = written.some((at) => isWithin(at, file))
    ? { scope: "folder", file, folder } as const
    : { scope: "user", file } as const;
  const servers = definitionsIn(value ?? {}, source);
  if (servers.length > 0) return servers;
  const why = value ? "it has no servers" : "there is no such file";
  throw unusableFile("mcp-config", path, `${why}: write {"mcpServers": {...}}`);
}

export async function flagImages({ image }: Args): Promise<ImagePart[]> {
  if (image === undefined) return [];
  const { loadedImage } = await import("../tools/files/image.ts");
  return await Promise.all(
    image.split("\n").map(async (path) => {
      try {
        const loaded = loadedImage(await Deno.readFile(path), basename(path));
        if (loaded) return loaded.part;
      } catch (error) {
        throw unusableFile("image", path, reasonOf(error));
      }
      throw unusableFile("image", path, "it is not a PNG, JPEG, WebP or GIF image");
    }),
  );
}

const OUTPUT = "output-last-message";

/**
 * Returns a function that writes the answer to the file of `--output-last-message`, and returns why that failed. Its
 * folder is resolved before any command runs, and a link in it is never followed. @throws {UsageError}
 */
export function answerWriter({ [OUTPUT]: path }: Args) {
  if (path === undefined) return () => Promise.resolve(undefined);
  const grant = attempt(() => grantOfNamed(path));
  if (grant === undefined) throw unusableFile(OUTPUT, path, "its folder does not exist");
  if (attempt(() => Deno.readLinkSync(grant.realPath)) !== undefined) {
    throw unusableFile(OUTPUT, path, "it is a link: name the file that it leads to");
  }
  return async (answer: string): Promise<string | undefined> => {
    const bytes = new TextEncoder().encode(answer === "" ? "" : `${answer}\n`);
    try {
      await writeAtomically(grant.realPath, path, bytes, undefined, { grant });
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  };
}
