import { assertEquals, assertMatch } from "@std/assert";

Deno.test("real_server: without a server it is skipped, and says so", async () => {
  const script = `${import.meta.dirname}/../../scripts/real_server.ts`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script, "--server", "no-such-program"],
  }).output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  assertMatch(new TextDecoder().decode(stdout), /^SKIP: .*--server.*\n$/);
});
