fail() { echo "$1"; exit 1; }
[ -f notes.text ] || fail "notes.text is missing: AGENTS.md names the ending"
printf '%s\n' '# owner: @WORD@' 'The build works.' >/tmp/wanted
grep -v '^[[:space:]]*$' notes.text | cmp -s - /tmp/wanted || fail "notes.text lacks the first line of AGENTS.md, or the sentence"
[ ! -e notes.txt ] && [ ! -e notes ] || fail "there is a second file"
