import { main } from "./src/cli/run.ts";

Deno.exit(await main(Deno.args));
