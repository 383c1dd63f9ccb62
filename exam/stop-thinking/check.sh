fail() { echo "$1"; exit 1; }
[ -f hours.txt ] || fail "hours.txt is missing"
[ "$(tr -d '[:space:]' <hours.txt)" = "$(((@NUMBER@ + 13) / 14))" ] || fail "hours.txt has another number"
