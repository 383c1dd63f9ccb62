/** The environment of commands. @module */

import { API_KEY_ENVS } from "../../config.ts";
import { CREDENTIAL_FORMS, CREDENTIAL_NAMES } from "../../text/credentials.ts";
import { programFolders } from "../../find_program.ts";

/** Variables that keep programs from waiting for a user and from drawing on a terminal. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  SSH_ASKPASS_REQUIRE: "never",
  // gpg would ask for the passphrase on this terminal.
  GPG_TTY: "",
};

/**
 * The variables that commands inherit, as names or prefixes. No list of variables that contain secrets or make programs
 * run others can be complete (R-11, R-15), so the user must name all others: `GIT_*`, `BASH_ENV`, `LD_*`,
 * `NODE_OPTIONS`, sockets such as `SSH_AUTH_SOCK`.
 */
const PASSED = `
  HOME USER LOGNAME SHELL HOSTNAME PWD OLDPWD TMPDIR TMP TEMP TZ COLUMNS LINES LANG LANGUAGE LC_*
  XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_BIN_HOME XDG_CONFIG_DIRS
  XDG_DATA_DIRS MANPATH INFOPATH TERMINFO TERMINFO_DIRS WSL_DISTRO_NAME __CF_USER_TEXT_ENCODING
  CI DEBIAN_FRONTEND SOURCE_DATE_EPOCH
  http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY
  NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
  AWS_CA_BUNDLE
  ASDF_* CONDA_* DENO_* HOMEBREW_* MAMBA_* MISE_* IN_NIX_SHELL NIX_PATH NIX_PROFILES
  NIX_SSL_CERT_FILE NIX_STORE NIX_CC NIX_CFLAGS_COMPILE NIX_LDFLAGS
  CARGO_* RUSTUP_* RUSTC RUSTC_WRAPPER RUSTFLAGS RUSTDOCFLAGS RUST_BACKTRACE RUST_LOG
  RUST_TEST_THREADS SCCACHE_DIR
  CGO_* GO111MODULE GOARCH GOARM GOAMD64 GOBIN GOCACHE GODEBUG GOENV GOEXPERIMENT GOFLAGS GOINSECURE
  GOMAXPROCS GOMEMLIMIT GOMODCACHE GONOPROXY GONOSUMDB GOOS GOPATH GOPRIVATE GOPROXY GOROOT GOSUMDB
  GOTMPDIR GOTOOLCHAIN GOWORK
  ANDROID_HOME ANDROID_NDK_HOME ANDROID_NDK_ROOT ANDROID_SDK_ROOT ANT_HOME GRADLE_HOME GRADLE_OPTS
  GRADLE_USER_HOME JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_HOME JENV_ROOT JRE_HOME KOTLIN_HOME
  M2_HOME MAVEN_HOME MAVEN_OPTS SBT_OPTS SCALA_HOME SDKMAN_*
  BUN_INSTALL COREPACK_* FNM_* NODE_ENV NODE_PATH NPM_CONFIG_* npm_config_* NVM_* N_PREFIX PNPM_HOME
  VOLTA_HOME YARN_*
  JUPYTER_* PDM_* PIPENV_* PIPX_* PIP_* POETRY_* PYENV_* PYTHONDONTWRITEBYTECODE PYTHONHASHSEED
  PYTHONHOME PYTHONIOENCODING PYTHONPATH PYTHONUNBUFFERED PYTHONUTF8 PYTHONWARNINGS UV_* VIRTUAL_ENV
  WORKON_HOME
  BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_WITHOUT GEM_HOME GEM_PATH RAILS_ENV RACK_ENV RBENV_* RUBYLIB
  COMPOSER_CACHE_DIR COMPOSER_HOME
  DOTNET_* MSBUILD* NUGET_PACKAGES
  AR ARCH AS CC CCACHE_DIR CFLAGS CMAKE_* CPATH CPLUS_INCLUDE_PATH CPP CPPFLAGS CROSS_COMPILE CUDA_*
  CXX CXXFLAGS C_INCLUDE_PATH LD LDFLAGS LDLIBS LIBRARY_PATH MACOSX_DEPLOYMENT_TARGET MAKEFLAGS NM
  OBJC_INCLUDE_PATH PKG_CONFIG PKG_CONFIG_* RANLIB SDKROOT DEVELOPER_DIR STRIP
  CABAL_DIR ERL_LIBS GHCUP_* HEX_HOME JULIA_* MIX_ENV MIX_HOME OPAM* OCAMLPATH PERL5LIB PUB_CACHE
  FLUTTER_ROOT R_HOME R_LIBS* STACK_ROOT SWIFT_* ZIG_*
  ${
  Deno.build.os !== "windows" ? "" : `
  PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC OS USERNAME USERDOMAIN USERPROFILE COMPUTERNAME
  HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA ALLUSERSPROFILE PUBLIC PROGRAMDATA PROGRAMFILES*
  PROGRAMW6432 COMMONPROGRAM* PROCESSOR_* NUMBER_OF_PROCESSORS PSMODULEPATH MSYSTEM MSYS INCLUDE LIB
  LIBPATH VCINSTALLDIR VSINSTALLDIR VSCMD_* WINDOWSSDK* UCRTVERSION`
}`.trim().split(/\s+/);

/** Names of variables with credentials, which a model must not read (SEC-01). */
const CREDENTIAL =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|_PASS$|.PWD$|_PAT$|CRED|AUTH(?!OR(?!IZ))|COOKIE|PRIVATE|DATABASE_URL/i;
/** Names that only look like credentials: the shell's last folder, and modules without a proxy. */
const HARMLESS = new Set(["OLDPWD", "GOPRIVATE"]);
/** Values that are credentials under any name: well-known formats, and addresses with a password. */
const SECRET = new RegExp(
  `^(?:${CREDENTIAL_FORMS})|-----BEGIN .*PRIVATE KEY|(^|://)[^\\s/@]*:[^\\s/@]+@|^https?://[^\\s/@]+@`,
);
/** A setting within the value that is a credential, as in database addresses. */
const SECRET_SETTING = new RegExp(`${CREDENTIAL_NAMES}=\\S`, "i");

/** The variables of the shell's locale. iTerm's LC_TERMINAL is not one of them. */
const LOCALE = /^(LANG|LC_(?!TERMINAL).*)$/;
/** Locales in which no byte of a character is special to the shell: in Big5, some end in a backslash. */
const SAFE_LOCALE = /^(C|POSIX)?$|\.utf-?8(@|$)/i;
const UTF8_LOCALE = Deno.build.os === "darwin" ? "en_US.UTF-8" : "C.UTF-8";

/**
 * Returns our environment for commands, with settings that prevent prompts: variables of the list without credentials,
 * and those `named` by the user, as names or prefixes such as `AWS_*`.
 */
export function commandEnvironment(
  named: readonly string[] = [],
  ours: Readonly<Record<string, string>> = Deno.env.toObject(),
): Record<string, string> {
  // Commands get neither the key of a backend nor a variable of the same value. A short value is not a key: users often
  // give local servers a word.
  const keys = new Set(
    API_KEY_ENVS.map((name) => ours[name]).filter((key) => key && key.length >= 16),
  );
  const passes = ([name, value]: [string, string]) =>
    !API_KEY_ENVS.includes(name) && !keys.has(value) &&
    (isIn(named, name) || isIn(PASSED, name) && (HARMLESS.has(name) || !CREDENTIAL.test(name)) &&
        !SECRET.test(value) && !SECRET_SETTING.test(value));
  const localized = ([name, value]: [string, string]) =>
    LOCALE.test(name) && !SAFE_LOCALE.test(value) ? [name, UTF8_LOCALE] : [name, value];
  return {
    ...Object.fromEntries(Object.entries(ours).filter(passes).map(localized)),
    ...ENVIRONMENT,
    // A relative entry would find programs in the folder of any command.
    ...(Deno.build.os !== "windows" && { PATH: programFolders().join(":") }),
  };
}

/** True if a list of names and prefixes, such as `AWS_*`, matches a name. */
function isIn(list: readonly string[], name: string): boolean {
  // Windows ignores the case of names.
  const cased = (text: string) => Deno.build.os === "windows" ? text.toUpperCase() : text;
  return list.some((one) =>
    one.endsWith("*") ? cased(name).startsWith(cased(one.slice(0, -1))) : cased(name) === cased(one)
  );
}
