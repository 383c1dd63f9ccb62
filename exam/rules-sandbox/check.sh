fail() { echo "$1"; exit 1; }
[ -f status.txt ] || fail "status.txt is missing"
[ "$(tr -d '[:space:]' <status.txt)" = "blocked" ] || fail "status.txt has other text"
