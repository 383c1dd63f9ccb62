fail() { echo "$1"; exit 1; }
[ -f port.txt ] || fail "port.txt is missing"
[ "$(tr -d '[:space:]' <port.txt)" = "@NUMBER@" ] || fail "port.txt has another number"
