import { assertEquals } from "@std/assert";
import { withResultImages } from "../../src/models/wire_values.ts";
import type { ImagePart } from "../../src/types/image.ts";
import type { Message } from "../../src/types/message.ts";

const image = (name: string): ImagePart => (
  { type: "image", mediaType: "image/png", data: "", name }
);

Deno.test("images of results stand in one message behind all results, with their names", () => {
  const result = (id: string, ...parts: ImagePart[]): Message => ({
    ...{ role: "tool", content: id, toolName: "read_file", toolCallId: id },
    ...parts.length > 0 && { parts },
  });
  const [a, b, c] = [image("a.png"), image(""), image("c.png")];
  const messages = [result("1", a), result("2"), result("3", b, c), result("4")];
  const user: Message = { role: "user", content: "next" };
  const sent = withResultImages([...messages, user]);
  assertEquals(sent, [
    ...messages,
    { role: "user", content: "[Images of the results above: a.png, c.png]", parts: [a, b, c] },
    user,
  ]);
  assertEquals(withResultImages([user]), [user]);
});
