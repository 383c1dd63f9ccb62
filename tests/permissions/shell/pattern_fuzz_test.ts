import { assert } from "@std/assert";
import { expandPattern, placeOf } from "../../../src/permissions/places.ts";
import { decide } from "../../../src/permissions/policy.ts";
import type { Settings } from "../../../src/permissions/settings.ts";
import { seeded } from "../../helpers/split.ts";

const FILES = [
  ..."a b ab .env .a key.pem id_rsa -n -o -- * ?x [a] [a]key.pem é {a ~".split(" "),
  ..."sub/a sub/key.pem sub/.env s/ub/b".split(" "),
  "a b",
  "a\nb",
];
const LINKS = { away: "/etc", secret: "sub/key.pem", up: "..", hosts: "/etc/hosts", here: "sub" };
const PIECES = [
  ..."* * * ? ? ** a b k key . .* - / / sub/ s here/ away/ up/ id rsa .pem ~ ./ // hos se é".split(
    " ",
  ),
  ...`'*' \\* "?" \\? [ab] '[a]' \\[a] [!a] [.]env {a,b} ''`.split(" "),
  "' '",
];
const AUTO: Settings = {
  approve: "auto",
  sandbox: "off",
  rules: [],
  isTrusted: true,
  hasBash: true,
  mayHoldSecrets: () => false,
  expandPattern,
};

function random(seed: number): (below: number) => number {
  const next = seeded(seed);
  return (below) => Math.floor(next() * below);
}

Deno.test({
  name:
    "CMD-04 a pattern that runs unasked comes to nothing that would be asked about, as bash has it",
  ignore: Deno.build.os === "windows",
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/folder`;
    for (const name of FILES) {
      const path = `${folder}/${name}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(path, "");
    }
    for (const [name, target] of Object.entries(LINKS)) {
      await Deno.symlink(target, `${folder}/${name}`);
    }
    const below = random(Number(Deno.env.get("FUZZ_SEED") ?? 20_261_121));
    const patterns = Array.from(
      { length: Number(Deno.env.get("FUZZ_LINES") ?? 1500) },
      () => Array.from({ length: 1 + below(5) }, () => PIECES[below(PIECES.length)]!).join(""),
    );
    // What each becomes: words that end with NUL, and one that is SOH after each pattern.
    const script = patterns.map((pattern) => `printf '%s\\0' ${pattern} $'\\1'`).join("\n");
    await Deno.writeTextFile(`${base}/script`, script);
    const { stdout } = await new Deno.Command("bash", {
      args: ["../script"],
      cwd: folder,
      env: { HOME: "/root", LC_ALL: "C.UTF-8" },
    }).output();
    const lines = new TextDecoder().decode(stdout).split("\x01\0");
    const place = (path: string) => placeOf(folder, path);
    let allowed = 0;
    for (const [i, pattern] of patterns.entries()) {
      const call = {
        tool: { name: "run_bash", access: "execute" },
        command: `cat ${pattern}`,
      } as const;
      if (decide(call, AUTO, place).effect !== "allow") continue;
      const words = lines[i]!.split("\0").slice(0, -1);
      if (words.length > 1) allowed++;
      for (const path of words) {
        const read = { tool: { name: "read_file", access: "read" }, path } as const;
        // As it was written, which is no pattern then.
        if (path === "" || path.startsWith("-") && words.length === 1) continue;
        assert(!path.startsWith("-"), `${pattern}: ${JSON.stringify(words)}`);
        assert(decide(read, AUTO, place).effect === "allow", `${pattern}: ${JSON.stringify(path)}`);
      }
    }
    assert(allowed > 5, `only ${allowed} came to several files`);
    await Deno.remove(base, { recursive: true });
  },
});
