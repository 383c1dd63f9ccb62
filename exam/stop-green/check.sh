fail() { echo "$1"; exit 1; }
[ -f state.txt ] || fail "state.txt is missing"
[ "$(tr -d '[:space:]' <state.txt)" = "green" ] || fail "state.txt has other text"
[ "$(cat greet.sh)" = "echo \"Hello, \$1.\"" ] || fail "greet.sh was changed"
[ "$(ls)" = "$(printf '%s\n' greet.sh state.txt test.sh)" ] || fail "there are other files, too"
