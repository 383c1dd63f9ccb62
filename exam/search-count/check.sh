fail() { echo "$1"; exit 1; }
[ -f count.txt ] || fail "count.txt is missing"
[ "$(tr -d '[:space:]' <count.txt)" = "7" ] || fail "count.txt has another number"
