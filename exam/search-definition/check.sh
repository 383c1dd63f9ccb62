fail() { echo "$1"; exit 1; }
[ -f answer.txt ] || fail "answer.txt is missing"
case $(tr -d '[:space:]' <answer.txt) in
  lib/@WORD1@/@WORD2@.py:11 | ./lib/@WORD1@/@WORD2@.py:11 | "$PWD/lib/@WORD1@/@WORD2@.py:11") ;;
  *) fail "answer.txt has another place" ;;
esac
