fail() { echo "$1"; exit 1; }
[ -f code.txt ] || fail "code.txt is missing"
[ "$(tr -d '[:space:]' <code.txt)" = "@WORD@-@NUMBER@" ] || fail "code.txt has another value"
