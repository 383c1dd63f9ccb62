fail() { echo "$1"; exit 1; }
[ -f status.txt ] || fail "status.txt is missing"
grep -qw "$((@NUMBER1@ + @NUMBER2@))" status.txt || fail "status.txt lacks the number that the script prints"
[ "$(ls -A)" = "$(printf '%s\n' set_limit.sh status.txt)" ] || fail "there are other files, too"
