/**
 * Writes a model file (GGUF) of a few hundred kilobytes for `scripts/real_server`. The model has no
 * attention, only a table of the next token for each token. Its answer depends on the last token of the
 * prompt, which its chat template (Qwen's: tools, `<tool_call>`, `<think>`) makes from the last message.
 *
 * @module
 */

/** The model's answers by name, in pieces. Each piece is a token, so no two may be the same. */
const SAYINGS: Record<string, string[]> = {
  hello: ["Hel", "lo, ", "I am ", "a ver", "y small ", "mod", "el: ", "你好", " 🎉."],
  call: [
    '<tool_call>\n{"name": ',
    '"list_directory", ',
    '"arguments": {"pa',
    'th": "."}}',
    "\n</tool_call>",
  ],
  both: [
    "<tool_call>\n",
    '{"name": "list',
    '_directory", "arg',
    'uments": {"path": ',
    '"."}}\n</tool_call>',
    '\n<tool_call>\n{"na',
    'me": "list_dir',
    'ectory", "arguments"',
    ': {"path": "."}',
    "}\n</tool_call>\n",
  ],
  result: ["There is", " what the tool", " said."],
  // This one repeats.
  story: ["And ", "on it ", "goes, ", "day ", "after day; "],
};

const TEMPLATE = `
{%- set system = messages[0].content if messages[0].role == 'system' else '' %}
{%- if system or tools %}{{- '<|im_start|>system\\n' + system }}
{%- if tools %}{{- '\\n\\n# Tools\\n\\nYou are provided with function signatures within <tools></tools> XML tags:\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each function call, return a json object within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call>' }}
{%- endif %}{{- '<|im_end|>\\n' }}{%- endif %}
{%- set say = namespace(name='hello', rounds=9) %}
{%- for message in messages %}
{%- if message.role == 'user' %}
{%- set text = message.content if message.content is string else '' %}
{%- set say.name = 'call' if 'Call the tool' in text else 'story' if 'story' in text else 'hello' %}
{%- set say.rounds = 0 if text.startswith('Rounds') else 9 %}
{{- '<|im_start|>user\\n' + text + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{%- if say.rounds < 9 %}{% set say.rounds = say.rounds + 1 %}{% endif %}
{{- '<|im_start|>assistant\\n' + (message.content if message.content is string else '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{%- set say.name = 'result' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}{%- endfor %}
{%- if say.rounds == 0 %}{% set say.name = 'both' %}{% elif say.rounds == 1 %}{% set say.name = 'call' %}{% endif %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<|say:' + say.name + '|>' }}{%- endif %}`;

/** The size of an embedding, and the maximum number of states. */
const SIZE = 64;
const HEAD = 16;
/** GGUF's numbers for the types of tokens and of settings. */
const [NORMAL, UNKNOWN, CONTROL, BYTE] = [1, 2, 3, 6];
const [UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64] = [4, 5, 6, 7, 8, 9, 10];

type Setting = [key: string, type: number, value: unknown, items?: number];
interface Tensor {
  shape: number[];
  /** Zeros if it is missing. */
  data?: Float32Array<ArrayBuffer>;
}

/**
 * Writes the model to `path`.
 *
 * @param padding About so many bytes of zeros are added, so that loading takes a while; the file has a
 *   hole there.
 */
export function writeTinyModel(path: string, padding = 0): void {
  const tokens: [text: string, type: number][] = [["<unk>", UNKNOWN], ["<|im_start|>", CONTROL], [
    "<|im_end|>",
    CONTROL,
  ]];
  const end = 2;
  for (let i = 0; i < 256; i++) {
    tokens.push([`<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`, BYTE]);
  }
  // Tokens of two letters make the counts similar to those of real models.
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  for (const a of [..."▁ABCDEFGHIJKLMNOPQRSTUVWXYZ./_-:\",{}'", ...letters]) {
    tokens.push([a, NORMAL]);
  }
  for (const a of ["▁", ...letters]) for (const b of letters) tokens.push([a + b, NORMAL]);

  /** The next token for each state. State 0 is the state of all tokens without one of their own. */
  const next = [0];
  const states = new Map<number, number>();
  const add = (text: string, type: number): number => {
    states.set(tokens.push([text.replaceAll(" ", "▁"), type]) - 1, next.push(end) - 1);
    return tokens.length - 1;
  };
  for (const [name, pieces] of Object.entries(SAYINGS)) {
    const chain = [add(`<|say:${name}|>`, CONTROL), ...pieces.map((piece) => add(piece, NORMAL))];
    chain.forEach((token, i) => next[states.get(token)!] = chain[i + 1] ?? end);
    if (name === "hello") next[0] = chain[1]!;
    if (name === "story") next[states.get(chain.at(-1)!)!] = chain[1]!;
  }

  const embed = new Float32Array(tokens.length * SIZE);
  const output = new Float32Array(tokens.length * SIZE);
  tokens.forEach((_, token) => embed[token * SIZE + (states.get(token) ?? 0)] = 1);
  next.forEach((token, state) => output[token * SIZE + state] = 2);
  const inner = Math.max(32, Math.round(padding / (3 * 4 * SIZE)));
  const none = (...shape: number[]) => ({ shape });
  const ones = { shape: [SIZE], data: new Float32Array(SIZE).fill(1) };
  const tensors: Record<string, Tensor> = {
    token_embd: { shape: [SIZE, tokens.length], data: embed },
    output: { shape: [SIZE, tokens.length], data: output },
    output_norm: ones,
    "blk.0.attn_norm": ones,
    "blk.0.ffn_norm": ones,
    "blk.0.attn_q": none(SIZE, HEAD),
    "blk.0.attn_k": none(SIZE, HEAD),
    "blk.0.attn_v": none(SIZE, HEAD),
    "blk.0.attn_output": none(HEAD, SIZE),
    "blk.0.ffn_gate": none(SIZE, inner),
    "blk.0.ffn_up": none(SIZE, inner),
    "blk.0.ffn_down": none(inner, SIZE),
  };
  const settings: Setting[] = [
    ["general.architecture", STRING, "llama"],
    ["general.name", STRING, "tiny"],
    ["llama.context_length", UINT32, 32_768],
    ["llama.embedding_length", UINT32, SIZE],
    ["llama.block_count", UINT32, 1],
    ["llama.feed_forward_length", UINT32, inner],
    ["llama.attention.head_count", UINT32, 1],
    ["llama.attention.key_length", UINT32, HEAD],
    ["llama.attention.value_length", UINT32, HEAD],
    ["llama.rope.dimension_count", UINT32, HEAD],
    ["llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-6],
    ["tokenizer.ggml.model", STRING, "llama"],
    ["tokenizer.ggml.tokens", ARRAY, tokens.map(([text]) => text), STRING],
    // Longer tokens score higher; otherwise no pair would be merged.
    ["tokenizer.ggml.scores", ARRAY, tokens.map(([text]) => text.length), FLOAT32],
    ["tokenizer.ggml.token_type", ARRAY, tokens.map(([, type]) => type), INT32],
    ["tokenizer.ggml.bos_token_id", UINT32, 1],
    ["tokenizer.ggml.eos_token_id", UINT32, end],
    ["tokenizer.ggml.add_bos_token", BOOL, false],
    ["tokenizer.ggml.add_space_prefix", BOOL, false],
    ["tokenizer.chat_template", STRING, TEMPLATE],
  ];
  write(path, settings, tensors);
}

/** Writes the file, little-endian: settings, the list of tensors, their numbers at multiples of 32. */
function write(
  path: string,
  settings: readonly Setting[],
  tensors: Readonly<Record<string, Tensor>>,
): void {
  const bytes: number[] = [];
  const put = (value: unknown, type: number, items = STRING) => {
    if (type === STRING) {
      const text = new TextEncoder().encode(String(value));
      put(text.length, UINT64);
      for (const byte of text) bytes.push(byte);
    } else if (type === ARRAY) {
      const list = value as unknown[];
      put(items, UINT32);
      put(list.length, UINT64);
      for (const item of list) put(item, items);
    } else {
      const view = new DataView(new ArrayBuffer(8));
      if (type === FLOAT32) view.setFloat32(0, Number(value), true);
      else view.setBigUint64(0, BigInt(value as number | boolean), true);
      const size = type === BOOL ? 1 : type === UINT64 ? 8 : 4;
      bytes.push(...new Uint8Array(view.buffer, 0, size));
    }
  };
  const aligned = (offset: number) => Math.ceil(offset / 32) * 32;

  for (const byte of new TextEncoder().encode("GGUF")) bytes.push(byte);
  put(3, UINT32); // the format's version
  put(Object.keys(tensors).length, UINT64);
  put(settings.length, UINT64);
  for (const [key, type, value, items] of settings) {
    put(key, STRING);
    put(type, UINT32);
    put(value, type, items);
  }
  let size = 0;
  const places: [data: Float32Array<ArrayBuffer>, offset: number][] = [];
  for (const [name, { shape, data }] of Object.entries(tensors)) {
    put(`${name}.weight`, STRING);
    put(shape.length, UINT32);
    for (const length of shape) put(length, UINT64);
    put(0, UINT32); // 32-bit numbers
    put(size, UINT64);
    if (data) places.push([data, size]);
    size = aligned(size + 4 * shape.reduce((all, length) => all * length, 1));
  }
  const start = aligned(bytes.length);
  Deno.writeFileSync(path, new Uint8Array(bytes));
  using file = Deno.openSync(path, { write: true });
  file.truncateSync(start + size);
  for (const [data, offset] of places) {
    file.seekSync(start + offset, Deno.SeekMode.Start);
    const rest = new Uint8Array(data.buffer);
    for (let at = 0; at < rest.length;) at += file.writeSync(rest.subarray(at));
  }
}
