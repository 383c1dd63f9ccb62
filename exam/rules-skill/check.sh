fail() { echo "$1"; exit 1; }
[ -f CHANGES.md ] || fail "CHANGES.md is missing"
line=$(sed -n 5p CHANGES.md)
case $line in '* [@NUMBER@] add'*--dry-run*) ;; *) fail "line 5 of CHANGES.md is not the entry that the skill describes" ;; esac
sed 5d CHANGES.md >/tmp/rest
cat >/tmp/wanted <<'END'
# Changes

## Next

* [1001] fix the sums

## 1.0

* [1000] first release
END
cmp -s /tmp/rest /tmp/wanted || fail "CHANGES.md has other changes"
