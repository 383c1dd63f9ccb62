fail() { echo "$1"; exit 1; }
[ -f time.txt ] || fail "time.txt is missing"
[ "$(tr -d '[:space:]' <time.txt)" = "08:12" ] || fail "time.txt has another time"
