fail() { echo "$1"; exit 1; }
[ -f label.txt ] || fail "label.txt is missing"
[ "$(tr -d '[:space:]' <label.txt)" = "@WORD@-@NUMBER@" ] || fail "label.txt has another value"
