fail() { echo "$1"; exit 1; }
[ -f server.txt ] || fail "server.txt is missing"
[ "$(tr -d '[:space:]' <server.txt)" = "@WORD@-@NUMBER@" ] || fail "server.txt has another value"
