fail() { echo "$1"; exit 1; }
[ -f state.txt ] || fail "state.txt is missing"
[ "$(tr -d '[:space:]' <state.txt)" = "$((@NUMBER1@ + @NUMBER2@))" ] || fail "state.txt has another number than the test prints"
[ "$(cat greet.sh)" = "echo \"Hello, \$1.\"" ] || fail "greet.sh was changed"
cat >/tmp/wanted <<'END'
[ "$(sh greet.sh @WORD@)" = "Hello, @WORD@." ] && echo "passed: $((@NUMBER1@ + @NUMBER2@))"
END
cmp -s test.sh /tmp/wanted || fail "test.sh was changed"
[ "$(ls -A)" = "$(printf '%s\n' greet.sh state.txt test.sh)" ] || fail "there are other files, too"
