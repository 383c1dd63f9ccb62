// Ordinary sessions as data: the calls that a model makes, in order, for jobs that people give it.

/** One call. A string is a command of `run_bash`. */
export type Step = string | {
  command?: string;
  /** The part of the sandbox that the command asks to leave, as a model does after a failure. */
  leave?: "network";
  background?: true;
  /** A call of another tool, with its arguments. */
  tool?: string;
  args?: Record<string, unknown>;
  /** True if an earlier answer covers this command, so that nothing is asked. */
  isGranted?: true;
};

export interface OrdinarySession {
  name: string;
  /** Files of the folder at the start, committed to a repository. */
  files: Record<string, string>;
  steps: readonly Step[];
}

const read = (file_path: string): Step => ({ tool: "read_file", args: { file_path } });
const grep = (pattern: string): Step => ({ tool: "grep_code", args: { pattern } });
const glob = (pattern: string): Step => ({ tool: "glob_files", args: { pattern } });
const list = (path = "."): Step => ({ tool: "list_directory", args: { path } });
const write = (file_path: string, content: string): Step => ({
  tool: "write_file",
  args: { file_path, content },
});
const edit = (file_path: string, old_string: string, new_string: string): Step => ({
  tool: "edit_file",
  args: { file_path, old_string, new_string },
});
const network = (command: string): Step => ({ command, leave: "network" });
const granted = (command: string): Step => ({ command, leave: "network", isGranted: true });

export const SESSIONS: readonly OrdinarySession[] = [
  {
    name: "Python: a failing test",
    files: {
      "calc.py": "def add(a, b):\n    return a - b\n",
      "tests/__init__.py": "",
      "tests/test_calc.py":
        "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
    },
    steps: [
      list(),
      read("calc.py"),
      "python3 -m unittest discover -s tests -t . 2>&1 | tail -5",
      edit("calc.py", "a - b", "a + b"),
      "python3 -m unittest discover -s tests -t .",
      "python3 -m py_compile calc.py && ls __pycache__",
      'python3 -c "import calc; print(calc.add(2, 3))"',
      "PYTHONPATH=. python3 - <<'EOF'\nfrom calc import add\nassert add(2, 2) == 4\nEOF",
      "rm -r __pycache__",
      "python3 -m black --check . || true",
      "ruff check .",
      "git diff --stat",
    ],
  },
  {
    name: "Python: a new package",
    files: { "README.md": "# tool\n" },
    steps: [
      "python3 --version && ls -la",
      "python3 -m venv --without-pip .venv && .venv/bin/python -c 'import sys; print(sys.prefix)'",
      "source .venv/bin/activate && which python",
      network("pip install requests"),
      granted("python3 -m pip install -r requirements.txt"),
      write("pyproject.toml", '[project]\nname = "tool"\nversion = "0.1.0"\n'),
      write("tool/__init__.py", "VERSION = 1\n"),
      write("tool/__main__.py", "import tool\nprint(tool.VERSION)\n"),
      "python3 -m tool | grep 1",
      "python3 -m compileall -q tool",
      "echo .venv/ > .gitignore && cat .gitignore",
      "git add -A && git commit -m 'Add the tool'",
    ],
  },
  {
    name: "Node: tests and a fix",
    files: {
      "package.json":
        '{"name":"x","version":"1.0.0","type":"module","scripts":{"test":"node --test","build":"node build.js"}}\n',
      "sum.js": "export const sum = (a) => a.reduce((x, y) => x + y);\n",
      "sum.test.js":
        'import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "./sum.js";\ntest("empty", () => assert.equal(sum([]), 0));\n',
      "build.js":
        'import { cpSync, mkdirSync } from "node:fs";\nmkdirSync("dist", { recursive: true });\ncpSync("sum.js", "dist/sum.js");\n',
    },
    steps: [
      "cat package.json",
      "npm test || true",
      edit("sum.js", "x + y)", "x + y, 0)"),
      "npm test",
      "npm run build && ls dist",
      "node -e \"import('./sum.js').then(({ sum }) => console.log(sum([1, 2])))\"",
      "npx prettier --check .",
      "npx tsc --noEmit",
      "rm -rf dist",
      "git status --short && git diff",
    ],
  },
  {
    name: "Node: dependencies, a server",
    files: {
      "package.json": '{"name":"x","version":"1.0.0"}\n',
      "server.js":
        'require("http").createServer((_, r) => r.end("hello")).listen(8123, "127.0.0.1");\n',
    },
    steps: [
      network("npm install express"),
      granted("npm ci"),
      { command: "node server.js", background: true },
      "node server.js & until curl -sf http://127.0.0.1:8123; do sleep 0.1; done; kill %1",
      "npm pkg set scripts.start='node server.js' && npm run | grep start",
      "npm ls --depth=0",
      "grep -rn hello --include='*.js' . | head -3",
      "node --check server.js",
      "git commit -am 'Start script'",
    ],
  },
  {
    name: "Rust: build, test, format",
    files: {
      "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/main.rs":
        'fn twice(a: i32) -> i32 { a * 2 }\nfn main() { println!("{}", twice(2)); }\n#[test]\nfn doubles() { assert_eq!(twice(2), 4); }\n',
      ".gitignore": "target/\n",
    },
    steps: [
      "cargo --version",
      "cargo build 2>&1 | tail -3",
      "cargo test",
      "cargo run -q",
      "cargo fmt && cargo fmt --check",
      "cargo clippy -- -D warnings",
      network("cargo add serde"),
      "RUST_BACKTRACE=1 ./target/debug/x",
      "git diff -- src | cat",
      "git add src && git commit -m Format",
    ],
  },
  {
    name: "Go: build, vet, test",
    files: {
      "go.mod": "module example.org/x\n\ngo 1.20\n",
      "x.go": "package x\n\nfunc Twice(a int) int { return a * 2 }\n",
      "x_test.go":
        'package x\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 {\n\t\tt.Fatal("no")\n\t}\n}\n',
      "cmd/x/main.go":
        'package main\n\nimport (\n\t"fmt"\n\n\t"example.org/x"\n)\n\nfunc main() { fmt.Println(x.Twice(2)) }\n',
    },
    steps: [
      "go version",
      "go build ./...",
      "go vet ./... && go test ./...",
      "gofmt -l . && gofmt -w x.go",
      "go run ./cmd/x",
      "go build -o bin/x ./cmd/x && ./bin/x",
      network("go get golang.org/x/text"),
      "cd cmd/x && go list ./...",
      "mkdir -p internal && mv bin internal/ && rm -r internal",
      "git checkout -b feature",
    ],
  },
  {
    name: "C: make",
    files: {
      Makefile:
        "CFLAGS = -Wall -O1\nall: a.out\na.out: main.c\n\t$(CC) $(CFLAGS) main.c\nclean:\n\trm -f a.out\n",
      "main.c": '#include <stdio.h>\nint main(void) { puts("hi"); return 0; }\n',
    },
    steps: [
      "make && ./a.out",
      "make clean",
      "gcc -Wall -Wextra -o app main.c && ./app > out.txt 2>&1; cat out.txt",
      'for f in *.c; do gcc -c "$f" -o "${f%.c}.o"; done && ls *.o',
      "clang-format -i main.c",
      "nm main.o | grep main",
      "mkdir -p build && cd build && gcc ../main.c && ./a.out",
      "make -j$(nproc) all 2>&1 | tee build.log",
      "rm -f main.o app out.txt build.log && rm -r build",
      "TMPDIR=/tmp gcc main.c -o /tmp/try && /tmp/try",
    ],
  },
  {
    name: "Git: what happened, and commits",
    files: { "a.txt": "one\n", "b.txt": "two\n", "src/c.txt": "three\n" },
    steps: [
      "git status",
      "git log --oneline -5 && git branch -a",
      "git show --stat HEAD | cat",
      "git blame a.txt",
      "git diff HEAD --name-only",
      "sed -i 's/one/1/' a.txt && git diff",
      "git -C src ls-files",
      "git remote -v; git config --get user.name",
      "git add a.txt",
      "git commit -m 'Change a'",
      "git switch -c topic",
      "git stash",
      "git log --format=%s -1",
      network("git fetch origin"),
    ],
  },
  {
    name: "A search, and edits in many files",
    files: Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`lib/m${i}.ts`, `export const oldName = ${i};\n`]),
    ),
    steps: [
      glob("**/*.ts"),
      grep("oldName"),
      read("lib/m1.ts"),
      "grep -rl oldName lib | wc -l",
      "rg -l oldName lib",
      "find lib -name '*.ts' | sort | head -3",
      "grep -rl oldName lib | xargs sed -i 's/oldName/newName/g'",
      read("lib/m2.ts"),
      edit("lib/m2.ts", "newName = 2", "newName = 22"),
      write("lib/index.ts", 'export * from "./m1.ts";\n'),
      "awk '/newName/ { n++ } END { print n }' lib/*.ts",
      "diff lib/m1.ts lib/m3.ts || true",
      "git diff --stat | tail -1",
      "wc -l lib/*.ts | tail -1; du -sh lib; file lib/m1.ts || true",
    ],
  },
  {
    name: "Shell: files, pipes, here-documents",
    files: { "data.csv": "a,1\nb,2\nc,3\n", "notes/todo.md": "- x\n" },
    steps: [
      "pwd; ls -la; whoami; date +%Y; uname -s",
      "cut -d, -f2 data.csv | sort -rn | paste -sd+ -",
      "cat > run.sh <<'EOF'\n#!/bin/bash\nset -euo pipefail\necho \"${1:-none}\"\nEOF\nchmod +x run.sh && ./run.sh yes",
      "mkdir -p out/a out/b && cp data.csv out/a && mv out/a/data.csv out/b/ && ls -R out",
      "cd notes && echo '- y' >> todo.md && cat todo.md && cd ..",
      "tar czf out.tgz out && tar tzf out.tgz && rm out.tgz",
      "head -n 2 data.csv > head.csv; tail -n +2 data.csv | tee tail.csv; rm head.csv tail.csv",
      'x=$(wc -l < data.csv); echo "rows: $x"; [ "$x" -eq 3 ] && echo ok',
      "find . -type f -not -path './.git/*' -exec wc -c {} + | tail -1",
      "ln -s data.csv link && readlink link && rm link && touch -d yesterday data.csv",
      "mktemp && echo x > /tmp/x && cat /tmp/x && env | cut -d= -f1 | head -3",
      "(sleep 0.1; echo later) & wait; jq . package.json 2>/dev/null || echo 'no jq'",
      "rm -rf out && rm run.sh",
      "curl --version | head -1; which python3 node; ps aux | head -2",
    ],
  },
];
