/**
 * The one table of files that no general permission covers. {@linkcode PathTable} derives from it the verdicts on
 * paths, the files that a search omits, and what the sandbox hides.
 *
 * @module
 */

interface FileGroup {
  /** The contents of secrets ("may hold ..."), or the kind of protected files ("is ..."), for the user's decision. */
  what: string;
  /**
   * Patterns, separated by blanks. `~/x` is in the home folder, `/x` in the root folder, others in any folder.
   * One that ends in `/` covers a folder with everything below it. `*` matches any characters but `/`, once per
   * name; `{a,b}` matches either; one `**` between names matches any number of folders.
   */
  paths: string;
  /** Matching names that are harmless; `?` in them is any character. */
  except?: string;
}

export interface ProtectedRow extends FileGroup {
  kind: "secret" | "protected";
}

export const OF_SYSTEM = "a part of the system";

/** Reading them needs approval. */
const SECRETS: readonly FileGroup[] = [
  { what: "keys of SSH", paths: ".ssh/" },
  {
    what: "a private key",
    paths:
      "id_{rsa,dsa,ecdsa,ed25519} id_{rsa,dsa,ecdsa,ed25519}_sk id_{rsa,dsa,ecdsa,ed25519}{.,~}*",
    except: "*.pub",
  },
  // OpenSSL, Java, PuTTY, KeePass, GnuPG
  { // except for trusted certificates, which HTTPS needs
    what: "a key file",
    paths: "*.{pem,key,p8,p12,pfx,jks,keystore,ppk,kdbx,asc,gpg}",
    except: "{cacert,ca-bundle,roots,cert}.pem",
  },
  { // dotenv, direnv, Docker Compose
    what: "variables of the environment",
    paths: ".env .envrc .env{.,~,_,-}* *.env",
    except: ".env?{example,sample,template,dist} {example,sample,template}.*env",
  },
  { what: "variables of the environment", paths: "/proc/*/environ /proc/*/task/*/environ" },
  { what: "keys of GnuPG", paths: ".gnupg/" },
  { // the command lines of AWS, Azure, Oracle, Google Cloud, DigitalOcean; rclone, boto, s3cmd
    what: "credentials of a cloud",
    paths:
      ".aws/ .azure/ .oci/ .config/{gcloud,doctl,rclone}/ .boto .s3cfg application_default_credentials.json",
  },
  // GitHub and GitLab
  { what: "credentials of a code host", paths: ".config/{gh,hub,glab-cli,github-copilot}/" },
  { what: "credentials of a cluster", paths: ".kube/ kubeconfig" },
  { // Docker, Podman, npm, Yarn, twine, RubyGems, Cargo, Terraform, Maven, Gradle, Composer, Bundler, Hugging Face
    what: "credentials of a registry",
    paths:
      ".docker/ .config/{containers,pip}/ .pip/ pip.conf .npmrc .yarnrc.yml .pypirc .gem/credentials .cargo/credentials* " +
      ".terraform.d/ .terraformrc .m2/settings.xml .gradle/gradle.properties .composer/auth.json " +
      "~/.bundle/config .huggingface/ .cache/huggingface/token",
  },
  {
    what: "credentials of an agent",
    paths: ".codex/auth.json .claude/.credentials.json ~/.gemini/",
  },
  { // curl, git, PostgreSQL, MySQL, Apache, Vault, pass, GNOME Keyring, 1Password, SOPS
    what: "saved passwords",
    paths:
      "{.,_}netrc .git-credentials .config/git/credentials .pgpass .my.cnf .htpasswd .vault-token .vault_pass* " +
      ".password-store/ .local/share/keyrings/ .config/{op,sops}/ " +
      "{credentials,secret,secrets} {credentials,secret,secrets}.{json,yml,yaml,toml,ini,txt}",
  },
  { // Wrangler, Docker before 1.7, MySQL, msmtp, fetchmail, rclone, Subversion, Terraform, Google Cloud, Conda, Stack
    what: "saved passwords",
    paths:
      ".dev.vars .dockercfg .mylogin.cnf .msmtprc .fetchmailrc rclone.conf .subversion/auth/ *.tfvars " +
      "terraform.tfstate client_secret*.json service-account*.json .condarc .stack/upload/ .local/share/uv/credentials/",
  },
  { // npm for all its users, Julia, .NET
    what: "credentials of a registry",
    paths: "etc/npmrc ~/.nvm/versions/node/*/etc/npmrc ~/.volta/tools/image/node/*/etc/npmrc " +
      "~/.asdf/installs/nodejs/*/etc/npmrc ~/.local/share/mise/installs/node/*/etc/npmrc " +
      "~/.local/share/fnm/node-versions/*/installation/etc/npmrc " +
      ".m2/repository/settings.xml ~/.julia/servers/*/auth.toml .dotnet/corefx/ " +
      // Nimble, PlatformIO, sbt
      ".nimble/github_api_token .platformio/appstate.json .sbt/{,1.0/}sonatype_credentials .sbt/1.0/credentials*",
  },
  { what: "what a browser keeps", paths: ".mozilla/ .config/{google-chrome,chromium}/" },
  {
    what: "a history of what was typed",
    paths:
      ".{bash,zsh,sh,python,psql,mysql,sqlite,node_repl}_history .local/share/fish/fish_history " +
      "deno_history.txt deno/location_data/ .julia/logs/repl_history.jl",
  },
  // They may contain an address with a password or a token, and headers of a checkout. git itself reads them.
  { what: "credentials of git", paths: ".git/**/config .git/**/config.worktree" },
  { // readable by root only, and not by sandboxed root; SSH, TLS, Kerberos, WireGuard, Wi-Fi, PPP, systemd
    what: "keys of the system",
    paths:
      "/etc/ssh/ssh_host_*_key /etc/{ssl,pki/tls}/private/ /etc/letsencrypt/ /etc/krb5.keytab /etc/wireguard/ " +
      "/etc/NetworkManager/system-connections/ /etc/ppp/{chap,pap}-secrets /var/lib/systemd/credential.secret",
  },
  { // databases and containers
    what: "what services keep",
    paths: "/var/lib/{postgresql,mysql,docker,containerd,kubelet,etcd,samba/private}/",
  },
  { what: "passwords of the system", paths: "/etc/{shadow,gshadow,sudoers}* /etc/sudoers.d/" },
  { what: "what replaced a protected link", paths: "*.replaced/" },
  { what: "a file of this program", paths: ".copilot/ .config/copilot/ .local/state/copilot/" },
];

/** Writing them needs approval: they make programs run others, or change the permissions of this one. */
const PROTECTED: readonly FileGroup[] = [
  { what: "a part of a git repository", paths: ".git/" },
  // Mercurial and Jujutsu also run programs that their settings name.
  {
    what: "a part of a repository",
    paths:
      ".hg/ .jj/repo/config.toml .jj/workspace-config.toml .sl/config _darcs/prefs/defaults .pijul/config .repo/repo/",
  },
  { what: "a plug-in of this program", paths: ".local/share/copilot/" },
  { what: "configuration of git", paths: ".gitmodules .gitconfig .config/git/" },
  { // husky, pre-commit, Lefthook
    what: "hooks of git",
    paths: ".husky/ .githooks/ .git-hooks/ .lefthook/ .lefthook-local/ .pre-commit-config.yaml " +
      "{.,}lefthook{,-local}.{yml,yaml,toml,json}",
  },
  { // npm, Yarn, pnpm
    what: "a file that package managers run",
    paths: ".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .yarn/{releases,plugins}/",
  },
  { // VS Code, IntelliJ, Vim, Neovim, Emacs, Zed, Helix, Fleet
    what: "configuration of an editor",
    paths:
      ".{vscode,idea,vim,nvim,emacs.d,devcontainer,zed,helix,fleet}/ .{vimrc,exrc,nvimrc,nvim.lua,emacs} .dir-locals{,-2}.el " +
      "*.code-workspace .devcontainer.json",
  },
  {
    what: "configuration of an agent",
    paths:
      ".{claude,codex,cursor,gemini,copilot,mcp,opencode}/ .{claude,codex,cursor,gemini,copilot,mcp,opencode}.json .agents/*.json " +
      "opencode.{json,jsonc} {.,}crush.json .aider.conf.yml .{continue,kilocode,amazonq,junie,trae}/",
  },
  {
    what: "instructions of an agent",
    paths: "{AGENTS,CLAUDE,GEMINI}.md {AGENTS,CLAUDE,GEMINI}.{local,override}.md " +
      "{QWEN,CRUSH,WARP}.md .{cursor,windsurf,cline,roo}rules .{windsurf,clinerules,roo,kiro,qwen,goose,crush}/ " +
      ".goosehints .github/copilot-instructions.md .github/instructions/",
  },
  { // bash, zsh, ksh, tcsh, fish, readline, direnv, mise, asdf; the desktop and systemd of a user
    what: "a file that shells run at their start",
    paths: ".{bash,zsh,sh,ksh,csh,tcsh}rc .{bash,zsh,sh,ksh}env .{bash_,zsh_,ksh_,z,}profile " +
      ".{bash_,zsh_,z,}{login,logout} .bash_aliases .inputrc .envrc .envrc.* {.,}mise{,.*}.toml " +
      "{.,}mise/config*.toml {.,}mise/conf.d/ .tool-versions .direnv/*.rc .autoenv* " +
      ".config/{fish,autostart,systemd,mise,environment.d}/ .x{profile,session,sessionrc,initrc} .pam_environment",
  },
  { // R, Ruby, GHC, OCaml, Elixir, Python, Perl
    what: "a file that interpreters run at their start",
    paths: ".Rprofile .Renviron .irbrc .pryrc .ghci .ocamlinit .iex.exs .pdbrc .perldb",
  },
  { // in this working folder, new files are settings
    what: "a folder of settings",
    paths: "~/.config ~/.local ~/.local/{bin,share,share/applications} ~/Library",
  },
  { // in this working folder, new files configure the loader of programs, PAM, cron and systemd
    what: OF_SYSTEM,
    paths:
      "/{etc,boot,bin,sbin,lib,lib64}/ /usr/{bin,sbin,lib,lib64,libexec}/ /usr/local/{bin,sbin,lib}/ " +
      "/run/{systemd,udev,tmpfiles.d,sysctl.d}/ /var/spool/ /usr /usr/local /var /var/lib /root",
  },
  // Programs of root read files in all of these: completions, D-Bus services, package scripts.
  ...Deno.uid() === 0
    ? [{ what: OF_SYSTEM, paths: "/usr/ /var/{lib,cache}/", except: "usr/src/ usr/local/src/" }]
    : [],
];

export const PROTECTED_ROWS: readonly ProtectedRow[] = [
  ...SECRETS.map((group) => ({ kind: "secret" as const, ...group })),
  ...PROTECTED.map((group) => ({ kind: "protected" as const, ...group })),
];
