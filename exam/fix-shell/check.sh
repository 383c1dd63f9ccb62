fail() { echo "$1"; exit 1; }
cmp -s test.sh - <<'END' || fail "test.sh was changed"
set -e
try() { got=$(sh name.sh "$1" "$2"); [ "$got" = "$3" ] || { echo "name.sh $1 $2: $got, not $3"; exit 1; }; }
try notes.txt 7 notes-007.txt
try "my file.tar.gz" 12 "my file-012.tar.gz"
try plain 3 plain-003
echo ok
END
got=$(sh test.sh 2>&1 && sh name.sh "@WORD@ x.md" 45 2>&1)
[ "${got##*$'\n'}" = "@WORD@ x-045.md" ] || fail "the test fails: ${got##*$'\n'}"
