fail() { echo "$1"; exit 1; }
[ -f done.txt ] || fail "done.txt is missing"
[ "$(tr -d '[:space:]' <done.txt)" = "@WORD@" ] || fail "done.txt has other text"
[ "$(ls -A)" = done.txt ] || fail "there are other files, too"
