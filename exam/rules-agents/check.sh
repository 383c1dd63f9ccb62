fail() { echo "$1"; exit 1; }
[ -f notes.text ] || fail "notes.text is missing: AGENTS.md names the ending"
printf '%s\n' '# owner: @WORD@' 'The build works.' >/tmp/wanted
grep -v '^[[:space:]]*$' notes.text | cmp -s - /tmp/wanted || fail "notes.text lacks the first line of AGENTS.md, or the sentence"
[ ! -e notes.txt ] && [ ! -e notes ] || fail "there is a second file"
cat >/tmp/wanted <<'END'
# Rules of this folder

- The first line of each new file is `# owner: @WORD@`.
- Text files end in `.text`, never in `.txt`.
- Do not change this file.
END
cmp -s AGENTS.md /tmp/wanted || fail "AGENTS.md was changed"
