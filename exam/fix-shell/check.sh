fail() { echo "$1"; exit 1; }
cat >/tmp/test.sh <<'END'
set -e
try() { got=$(sh name.sh "$1" "$2"); [ "$got" = "$3" ] || { echo "name.sh $1 $2: $got, not $3"; exit 1; }; }
try notes.txt 7 notes-007.txt
try "my file.tar.gz" 12 "my file-012.tar.gz"
try plain 3 plain-003
echo ok
END
cmp -s test.sh /tmp/test.sh || fail "test.sh was changed"
echo 'try "@WORD@ x.md" 45 "@WORD@ x-045.md"' >>/tmp/test.sh
sh /tmp/test.sh >/tmp/out 2>&1 || fail "the test fails: $(tail -1 /tmp/out)"
