/**
 * Files that no general permission covers.
 *
 * @module
 */

/** Kinds of secrets, each with how its paths look in lower case with `/` between the parts. */
const SECRETS: readonly [kind: string, pattern: RegExp][] = [
  ["keys of SSH", /\/\.ssh(\/|$)/],
  ["a private key", /\/id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/],
  ["a key file", /\.(pem|key|p8|p12|pfx|jks|keystore|ppk|kdbx|asc|gpg)$/],
  [
    "variables of the environment",
    /\/\.env(rc|[.~_-](?!example$|sample$|template$|dist$)[^/]*)?$|\/(?!(example|sample|template)\.)[^/]+\.env$/,
  ],
  ["variables of the environment", /^\/proc\/.*\/environ$/],
  ["keys of GnuPG", /\/\.gnupg(\/|$)/],
  ["credentials of a cloud", /\/\.(aws|azure|oci)(\/|$)|\/\.config\/(gcloud|gh|hub|op)(\/|$)/],
  ["credentials of a cloud", /\/(\.boto|\.s3cfg|application_default_credentials\.json)$/],
  ["credentials of a cluster", /\/\.kube(\/|$)|\/kubeconfig$/],
  [
    "credentials of a registry",
    /\/\.docker(\/|$)|\/\.(npmrc|yarnrc\.yml|pypirc|gem\/credentials)$/,
  ],
  ["credentials of a registry", /\/\.(cargo|terraform\.d)\/credentials[^/]*$/],
  ["saved passwords", /\/[._]netrc$|\/\.(git-credentials|pgpass|my\.cnf|htpasswd|vault-token)$/],
  // Addresses with a password or a token, and headers that a check-out left.
  ["credentials of git", /\/\.git\/(.*\/)?config(\.worktree)?$/],
  ["saved passwords", /\/\.password-store(\/|$)|\/\.local\/share\/keyrings(\/|$)/],
  ["saved passwords", /\/(credentials|secrets?)(\.(json|ya?ml|toml|ini|txt))?$/],
  ["passwords of the system", /^\/etc\/(g?shadow|sudoers)/],
  ["what this program keeps", /\/\.(config\/|local\/state\/)?copilot(\/|$)/],
];

/** Files that make programs run others, or change what this one may do. */
const PROTECTED: readonly [kind: string, pattern: RegExp][] = [
  ["the inside of a git repository", /\/\.git(\/|$)/],
  ["configuration of git", /\/\.(gitmodules|gitconfig)$|\/\.config\/git(\/|$)/],
  ["hooks of git", /\/\.(husky|githooks)(\/|$)|\/\.pre-commit-config\.yaml$|\/\.?lefthook\.ya?ml$/],
  ["what a package manager runs", /\/\.(yarnrc|pnpmfile\.cjs)$|\/\.yarn\/(releases|plugins)(\/|$)/],
  ["configuration of an editor", /\/\.(vscode|idea|vim|nvim|emacs\.d|devcontainer|zed)(\/|$)/],
  ["configuration of an editor", /\/\.(vimrc|exrc|nvimrc|nvim\.lua|emacs)$|\.code-workspace$/],
  [
    "configuration of an agent",
    /\/\.(claude|codex|cursor|gemini|copilot|mcp|opencode)(\/|\.json$|$)/,
  ],
  ["instructions of an agent", /\/(agents|claude|gemini)(\.local|\.override)?\.md$/],
  ["what a shell runs at its start", /\/\.(bash|zsh|k?sh|c|tc)(rc|_?profile|_login|_logout|env)$/],
  ["what a shell runs at its start", /\/\.(profile|login|logout|zlogin|zlogout|inputrc|envrc)$/],
  ["what a shell runs at its start", /\/\.config\/(fish|autostart|systemd)(\/|$)/],
];

function kindOf(table: readonly [string, RegExp][], path: string): string | undefined {
  // Some file systems take .GIT for .git.
  const plain = path.replaceAll("\\", "/").toLowerCase();
  return table.find(([, pattern]) => pattern.test(plain))?.[0];
}

/** What an absolute path of a secret matches, with `/` between its parts. One pattern takes a third of the time. */
export const SECRET_PATH = new RegExp(SECRETS.map(([, { source }]) => source).join("|"), "i");

/** What secret an absolute path is likely to hold, in words; undefined for none known. */
export function secretKind(path: string): string | undefined {
  return kindOf(SECRETS, path);
}

/** What makes an absolute path one that is not written without being asked for; undefined for nothing. */
export function protectedKind(path: string): string | undefined {
  return kindOf(PROTECTED, path);
}
