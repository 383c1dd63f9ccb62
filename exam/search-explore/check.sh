fail() { echo "$1"; exit 1; }
[ -f limit.txt ] || fail "limit.txt is missing"
[ "$(tr -d '[:space:]' <limit.txt)" = "@NUMBER@" ] || fail "limit.txt has another value"
