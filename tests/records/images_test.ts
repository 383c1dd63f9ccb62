import { assertEquals } from "@std/assert/equals";
import { removeImages, storeImages, withStoredImages } from "../../src/records/images.ts";
import type { ImagePart } from "../../src/types/image.ts";
import type { Message } from "../../src/types/message.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const HASH = "a".repeat(64);
const image = (more: Partial<ImagePart>) => (
  { type: "image", mediaType: "image/png", ...more } as ImagePart
);
const withImage = (part: ImagePart): Message => ({ role: "user", content: "see", parts: [part] });

Deno.test("images of a session are stored beside it, once, for the person alone, and go with it", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const path = `${folder}/s.jsonl`;
  const file = `${folder}/s.images/${HASH}.png`;
  storeImages(path, [withImage(image({ data: "YWJj" }))]);
  assertEquals([...Deno.readDirSync(folder)], []);
  storeImages(path, [withImage(image({ data: "YWJj", hash: HASH })), {
    role: "user",
    content: "",
  }]);
  storeImages(path, [withImage(image({ data: "ZGVm", hash: HASH }))]);
  assertEquals(await Deno.readTextFile(file), "abc");
  // The disk was full.
  await Deno.writeTextFile(file, "a");
  storeImages(path, [withImage(image({ data: "YWJj", hash: HASH }))]);
  assertEquals(await Deno.readTextFile(file), "abc");
  if (Deno.build.os !== "windows") {
    const modes = [file, `${folder}/s.images`].map((at) => Deno.statSync(at).mode! & 0o777);
    assertEquals(modes, [0o600, 0o700]);
  }
  const read = (part: ImagePart) => withStoredImages(path, [withImage(part)])[0]!;
  const reference = { type: "image", mediaType: "image/png", hash: HASH } as ImagePart;
  assertEquals(read(reference).parts, [{ ...reference, data: "YWJj" }]);
  assertEquals(read(reference).content, "see");
  const whole = withImage(image({ data: "ZGVm", hash: HASH }));
  assertEquals(withStoredImages(path, [whole])[0] === whole, true);
  const other = { ...reference, hash: "b".repeat(64), data: "ZGVm" };
  storeImages(path, [withImage(other)]);
  assertEquals(read({ ...reference, hash: other.hash }).parts, [other]);
  // A part that has its data stays, beside one that is read.
  const both: Message = { role: "user", content: "see", parts: [other, reference] };
  assertEquals(withStoredImages(path, [both])[0]!.parts, [other, { ...reference, data: "YWJj" }]);
  // One that is empty, too large, or gone, is a line.
  const lost = (name?: string) => read({ ...reference, ...name && { name } }).parts;
  await Deno.writeTextFile(file, "");
  assertEquals(lost("x.png"), [{
    ...{ type: "resource", kind: "note", name: "" },
    text: "[x.png: its file is no longer with the session]",
  }]);
  await Deno.truncate(file, 32 * 2 ** 20 + 1);
  assertEquals(lost("x.png")?.[0]?.type, "resource");
  removeImages(path);
  removeImages(path);
  assertEquals([...Deno.readDirSync(folder)], []);
  const [part] = lost()!;
  assertEquals(
    part?.type === "resource" && part.text,
    "[an image: its file is no longer with the session]",
  );
});
