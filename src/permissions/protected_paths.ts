/**
 * The one table of files that no general permission covers. The verdicts on paths, what a search
 * leaves out, which instructions are heeded and what the sandbox hides all derive from it, by way of
 * {@linkcode PathTable}.
 *
 * @module
 */

/** One row: files that are protected for one reason. */
export interface ProtectedRow {
  /** A `secret` is not read unasked; a `protected` file makes programs run others, or change what this one may do, and is not written unasked. */
  kind: "secret" | "protected";
  /** The contents of secrets ("may hold ..."), the nature of protected files ("is ..."), for the person who is asked. */
  what: string;
  /**
   * Patterns, parted by blanks. `~/x` is x in the home folder, `/x` is x in the root folder, any other
   * counts in every folder. One that ends in `/` covers a folder and all below it, any other only the
   * path that ends there. `*` is any characters but `/`, `?` one of them, `{a,b}` is either, and one
   * `**` between names is any number of folders.
   */
  paths: string;
  /** Names of files that `paths` matches and that are harmless. */
  except?: string;
  /** The part of `paths` that confined commands are kept from, where that is not all. */
  confined?: string;
  /** The programs that the files belong to. */
  from: string;
}

export const PROTECTED_ROWS: readonly ProtectedRow[] = [
  { kind: "secret", what: "keys of SSH", paths: ".ssh/", from: "OpenSSH" },
  {
    kind: "secret",
    what: "a private key",
    paths: "id_{rsa,dsa,ecdsa,ed25519} id_{rsa,dsa,ecdsa,ed25519}_sk",
    from: "OpenSSH",
  },
  {
    kind: "secret",
    what: "a key file",
    paths: "*.{pem,key,p8,p12,pfx,jks,keystore,ppk,kdbx,asc,gpg}",
    from: "OpenSSL, Java, PuTTY, KeePass, GnuPG",
  },
  {
    kind: "secret",
    what: "variables of the environment",
    paths: ".env .envrc .env{.,~,_,-}* *.env",
    except: ".env?{example,sample,template,dist} {example,sample,template}.*env",
    from: "dotenv, direnv, Docker Compose",
  },
  {
    kind: "secret",
    what: "variables of the environment",
    paths: "/proc/*/environ /proc/*/task/*/environ",
    // A confined command sees no processes but its own.
    confined: "",
    from: "Linux",
  },
  { kind: "secret", what: "keys of GnuPG", paths: ".gnupg/", from: "GnuPG" },
  {
    kind: "secret",
    what: "credentials of a cloud",
    paths:
      ".aws/ .azure/ .oci/ .config/{gcloud,doctl,rclone}/ .boto .s3cfg application_default_credentials.json",
    from:
      "the command lines of AWS, Azure, Oracle, Google Cloud, DigitalOcean; rclone, boto, s3cmd",
  },
  {
    kind: "secret",
    what: "credentials of a code host",
    paths: ".config/{gh,hub,glab-cli}/",
    from: "the command lines of GitHub and GitLab",
  },
  {
    kind: "secret",
    what: "credentials of a cluster",
    paths: ".kube/ kubeconfig",
    from: "kubectl",
  },
  {
    kind: "secret",
    what: "credentials of a registry",
    paths:
      ".docker/ .config/containers/ .npmrc .yarnrc.yml .pypirc .gem/credentials .cargo/credentials* " +
      ".terraform.d/ .terraformrc .m2/settings.xml .gradle/gradle.properties .composer/auth.json " +
      "~/.bundle/config .huggingface/ .cache/huggingface/token",
    from:
      "Docker, Podman, npm, Yarn, twine, RubyGems, Cargo, Terraform, Maven, Gradle, Composer, Bundler, Hugging Face",
  },
  {
    kind: "secret",
    what: "credentials of an agent",
    paths: ".codex/auth.json .claude/.credentials.json ~/.gemini/",
    from: "Codex, Claude Code, Gemini CLI",
  },
  {
    kind: "secret",
    what: "saved passwords",
    paths:
      "{.,_}netrc .git-credentials .config/git/credentials .pgpass .my.cnf .htpasswd .vault-token " +
      ".password-store/ .local/share/keyrings/ .config/{op,sops}/ " +
      "{credentials,secret,secrets} {credentials,secret,secrets}.{json,yml,yaml,toml,ini,txt}",
    from: "curl, git, PostgreSQL, MySQL, Apache, Vault, pass, GNOME Keyring, 1Password, SOPS",
  },
  {
    kind: "secret",
    what: "what a browser keeps",
    paths: ".mozilla/ .config/{google-chrome,chromium}/",
    from: "Firefox, Chrome, Chromium",
  },
  {
    kind: "secret",
    what: "a history of what was typed",
    paths: ".{bash,zsh,python,psql,mysql,sqlite}_history .local/share/fish/fish_history",
    from: "bash, zsh, fish, Python, PostgreSQL, MySQL, SQLite",
  },
  {
    kind: "secret",
    // Addresses with a password or a token, and headers that a check-out left.
    what: "credentials of git",
    paths: ".git/**/config .git/**/config.worktree",
    // git itself reads them.
    confined: "",
    from: "git",
  },
  {
    kind: "secret",
    what: "passwords of the system",
    paths: "/etc/{shadow,gshadow,sudoers}* /etc/sudoers.d/",
    from: "Linux, sudo",
  },
  {
    kind: "secret",
    what: "what this program keeps",
    paths: ".copilot/ .config/copilot/ .local/state/copilot/",
    from: "this program",
  },
  {
    kind: "protected",
    what: "the inside of a git repository",
    paths: ".git/",
    // Commands may commit: the rest of `.git` is git's own to write.
    confined: ".git/hooks/ .git/config .git/config.worktree .git/worktrees/",
    from: "git",
  },
  {
    kind: "protected",
    what: "configuration of git",
    paths: ".gitmodules .gitconfig .config/git/",
    from: "git",
  },
  {
    kind: "protected",
    what: "hooks of git",
    paths: ".husky/ .githooks/ .pre-commit-config.yaml {.,}lefthook.{yml,yaml}",
    from: "husky, pre-commit, Lefthook",
  },
  {
    kind: "protected",
    what: "what a package manager runs",
    paths: ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .yarn/{releases,plugins}/",
    from: "npm, Yarn, pnpm",
  },
  {
    kind: "protected",
    what: "configuration of an editor",
    paths:
      ".{vscode,idea,vim,nvim,emacs.d,devcontainer,zed}/ .{vimrc,exrc,nvimrc,nvim.lua,emacs} *.code-workspace",
    from: "VS Code, IntelliJ, Vim, Neovim, Emacs, Zed",
  },
  {
    kind: "protected",
    what: "configuration of an agent",
    paths:
      ".{claude,codex,cursor,gemini,copilot,mcp,opencode}/ .{claude,codex,cursor,gemini,copilot,mcp,opencode}.json",
    from: "this program and others of its kind",
  },
  {
    kind: "protected",
    what: "instructions of an agent",
    paths: "{AGENTS,CLAUDE,GEMINI}.md {AGENTS,CLAUDE,GEMINI}.{local,override}.md",
    from: "this program and others of its kind",
  },
  {
    kind: "protected",
    what: "what a shell runs at its start",
    paths: ".{bash,zsh,sh,ksh,csh,tcsh}rc .{bash,zsh,sh,ksh}env .{bash_,zsh_,ksh_,z,}profile " +
      ".{bash_,zsh_,z,}{login,logout} .bash_aliases .inputrc .envrc .config/{fish,autostart,systemd}/",
    from: "bash, zsh, ksh, tcsh, fish, readline, direnv; the desktop and systemd of a user",
  },
];
