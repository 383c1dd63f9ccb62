// A minimal agent, the reference of scripts/bench: no agent on this runtime can cost less.
const [baseUrl, prompt] = Deno.args;
const messages: unknown[] = [{ role: "user", content: prompt }];
const tools = [{
  type: "function",
  function: { name: "read_file", parameters: { properties: { file_path: { type: "string" } } } },
}];
const encoder = new TextEncoder();
for (;;) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages, tools }),
  });
  let pending = "";
  let content = "";
  const calls: { id: string; function: { name: string; arguments: string } }[] = [];
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (pending + text).split("\n");
    pending = lines.pop()!;
    let out = "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) out += delta.content;
      for (const call of delta?.tool_calls ?? []) calls.push(call);
    }
    content += out;
    const bytes = encoder.encode(out);
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  }
  messages.push({ role: "assistant", content, ...(calls.length && { tool_calls: calls }) });
  if (calls.length === 0) break;
  for (const call of calls) {
    const { file_path } = JSON.parse(call.function.arguments);
    messages.push({
      role: "tool",
      tool_call_id: call.id,
      content: await Deno.readTextFile(file_path),
    });
  }
}
