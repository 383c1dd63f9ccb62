import { assertEquals } from "@std/assert";
import { failureFromResponse } from "../../src/wire/failure.ts";

/**
 * Refusals of requests that are too long, each in the shape that the issue shows, cut to the words that
 * tell; then the window and the prompt in tokens, 0 where none is named.
 */
const REFUSALS: [source: string, status: number, words: string, window: number, prompt: number][] =
  [
    ["continuedev/continue#9797", 400, "request exceeds the available context size", 0, 0],
    [
      "docker/desktop-feedback#188",
      400,
      "request (71 tokens) exceeds the available context",
      0,
      71,
    ],
    ["llmmllab/llmmllab-api#202", 500, "Context size has been exceeded.", 0, 0],
    [
      "lfnovo/open-notebook#470",
      500,
      "rpc error: request (9000 tokens) exceeds the available context size (4096 tokens)",
      4096,
      9000,
    ],
    [
      "fedora-copr/logdetective-website#193",
      500,
      "Requested tokens (9000) exceed context window of 4096",
      4096,
      9000,
    ],
    ["ikawrakow/ik_llama.cpp#2051", 500, "context shift is disabled", 0, 0],
    [
      "lemonade-sdk/lemonade#6",
      500,
      "Prompt tokens (9000) cannot be greater than the model's max prompt length (4096)",
      4096,
      9000,
    ],
    [
      "lmstudio-ai/lmstudio-bug-tracker#546",
      400,
      "keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
      4096,
      9000,
    ],
    [
      "anomalyco/opencode#11141",
      400,
      "Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)",
      4096,
      0,
    ],
    [
      "Gitlawb/openclaude#353",
      400,
      "tokens to keep is greater than the context length (n_keep: 9000>= n_ctx: 4096)",
      4096,
      0,
    ],
    [
      "vllm-project/vllm#20409",
      400,
      "maximum context length is 4096 tokens. However, you requested 1000 tokens (9000 in the messages, 100 in the completion)",
      4096,
      9000,
    ],
    [
      "vllm-project/vllm#12165",
      400,
      "The prompt (total length 9000) is too long to fit into the model (context length 4096)",
      4096,
      9000,
    ],
    [
      "earendil-works/pi#5929",
      400,
      "maximum context length is 4096 tokens. However, your prompt contains at least 9000 input tokens",
      4096,
      9000,
    ],
    [
      "harbor-framework/harbor#996",
      400,
      "You passed 9000 input tokens. However, the model's context length is only 4096 tokens. Please reduce the length of the input prompt",
      4096,
      9000,
    ],
    [
      "anomalyco/opencode#25230",
      400,
      "Requested token count exceeds the model's maximum context length of 4096 tokens.",
      4096,
      0,
    ],
    [
      "Alishahryar1/free-claude-code#263",
      400,
      "The input (9000 tokens) is longer than the model's context length (4096 tokens).",
      4096,
      9000,
    ],
    [
      "NVIDIA/TensorRT-LLM#9277",
      400,
      "prompt length (9000.0), query length (0) should not exceed max_num_tokens (4096)",
      4096,
      9000,
    ],
    [
      "triton-inference-server/tensorrtllm_backend#141",
      500,
      "Prompt length (9000) exceeds maximum sequence length (4096)",
      4096,
      9000,
    ],
    [
      "bytedance/UI-TARS-desktop#626",
      422,
      "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 `inputs` tokens",
      4096,
      9000,
    ],
    [
      "huggingface/text-generation-inference#695",
      422,
      "`inputs` must have less than 4096 tokens. Given: 9000",
      4096,
      0,
    ],
    [
      "EricLBuehler/mistral.rs (add_request)",
      422,
      "Prompt sequence length is greater than 4096",
      4096,
      0,
    ],
    ["ddalcu/mlx-serve#66", 400, "Prompt exceeds maximum context length", 0, 0],
    [
      "jjang-ai/vmlx#253",
      400,
      "prompt_too_long: prompt has 9000 tokens, max prompt/context tokens is 4096",
      4096,
      9000,
    ],
    [
      "jundot/omlx#26",
      400,
      "Prompt too long: 9000 tokens exceeds max context window of 4096 tokens",
      4096,
      9000,
    ],
    ["nano-step/nano-brain#208", 400, "the input length exceeds the context length", 0, 0],
    [
      "topoteretes/cognee#1061",
      400,
      "maximum context length is 4096 tokens. However, you requested about 9000 tokens (9000 of text input)",
      4096,
      9000,
    ],
    [
      "ericc-ch/copilot-api#65",
      400,
      "prompt token count of 9000 exceeds the limit of 4096",
      4096,
      9000,
    ],
    ["LLM-Red-Team/qwen-free-api#23", 400, "Range of input length should be [1, 4096]", 4096, 0],
    [
      "MoonshotAI/kimi-cli#2011",
      400,
      "Your request exceeded model token limit: 4096 (requested: 9000)",
      4096,
      0,
    ],
    [
      "MoonshotAI/MoonshotAI-Cookbook#18",
      400,
      "model max length exceeded, max length:4096",
      4096,
      0,
    ],
    ["NousResearch/hermes-agent#1877", 400, "Prompt exceeds max length", 0, 0],
    ["rowboatlabs/rowboat#514", 400, "invalid params, context window exceeds limit (2013)", 0, 0],
    [
      "cline/cline#3120",
      400,
      "maximum prompt length is 4096 but the request contains 9000 tokens.",
      4096,
      9000,
    ],
    [
      "google-gemini/gemini-cli#4692",
      400,
      "input token count (9000) exceeds the maximum number of tokens allowed (4096).",
      4096,
      9000,
    ],
    [
      "can1357/oh-my-pi#1618",
      400,
      "The prompt is too long: 9000, model maximum context length: 4096",
      4096,
      9000,
    ],
    [
      "cline/cline#5140",
      400,
      "Please reduce the length of the messages. Current length is 9000 while limit is 4096",
      4096,
      0,
    ],
    ["aws-samples/assessment-generator#2", 400, "Input is too long for requested model.", 0, 0],
    [
      "docker/docker-agent#569",
      400,
      "input length and `max_tokens` exceed context limit: 9000 + 100 > 4096",
      4096,
      9000,
    ],
    ["whoz-oss/coday#26", 400, "prompt is too long: 9000 tokens > 4096 maximum", 4096, 9000],
    [
      "entropy-research/Devon#88",
      400,
      'ContextWindowExceededError: AnthropicError - {"message":"prompt is too long: 9000 tokens > 4096 maximum"}',
      4096,
      9000,
    ],
    [
      "cottongeeks/podscript#20",
      413,
      "Request too large on tokens per minute (TPM): Limit 4096, Requested 9000",
      4096,
      0,
    ],
    [
      "jaylfc/taOS#1738",
      400,
      "Prompt is 9000 tokens but the model context window is 4096 tokens.",
      4096,
      9000,
    ],
    [
      "cline/cline#294",
      400,
      "Requested generation length 1 is not possible! The provided prompt is 9000 tokens long, but the maximum supported sequence length is just 4096!",
      4096,
      9000,
    ],
    [
      "langgenius/dify#19394",
      400,
      "length of prompt_tokens (9000) must be less than max_seq_len (4096).",
      4096,
      9000,
    ],
    ["vllm-project/vllm#4667", 400, "max_tokens must be at least 1, got -186.", 0, 0],
    ["ollama/ollama#18107", 500, "no user query found in messages", 0, 0],
    [
      "earendil-works/pi (overflow.ts)",
      400,
      "Prompt contains 9000 tokens and 0 images too large for model with 4096 maximum context length",
      4096,
      9000,
    ],
  ];

for (const [source, status, words, window, prompt] of REFUSALS) {
  Deno.test(`a request that is too long, in the words of ${source}`, () => {
    const body = JSON.stringify({ error: { message: words } });
    const failure = failureFromResponse(status, new Headers(), body, "http://models.example/v1");
    const { kind, contextTokens } = failure;
    assertEquals([kind, contextTokens?.window ?? 0, contextTokens?.prompt ?? 0], [
      "context_too_long",
      window,
      prompt,
    ]);
  });
}

/** Refusals that making room would not help. */
const OTHERS: [source: string, status: number, words: string][] = [
  ["RooCodeInc/Roo-Code#5729", 400, "`max_tokens` must be less than or equal to `4096`"],
  ["vanna-ai/vanna-flask#11", 429, "Request too large on tokens per min (TPM): Limit 4096"],
  ["microsoft/clarity-agent#59", 400, "'max_tokens' is not supported with this model."],
  ["quelmap-inc/quelmap#4", 400, "Unsupported value: 'temperature' does not support 0.2"],
  ["vllm-project/vllm#2964", 400, "System role not supported"],
  ["pydantic/pydantic-ai#703", 400, "registry.ollama.ai/library/llama3:8b does not support tools"],
  ["idiap/sdialog#122", 500, "Jinja Exception: Conversation roles must alternate user/assistant"],
];

for (const [source, status, words] of OTHERS) {
  Deno.test(`a refusal for another reason, in the words of ${source}`, () => {
    const body = JSON.stringify({ error: { message: words } });
    const failure = failureFromResponse(status, new Headers(), body, "http://models.example/v1");
    assertEquals(failure.kind, status === 429 ? "rate_limit" : "request");
  });
}
