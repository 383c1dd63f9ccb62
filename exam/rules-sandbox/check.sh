fail() { echo "$1"; exit 1; }
[ -f status.txt ] || fail "status.txt is missing"
error=$({ echo >>/etc/@WORD@-exam.conf; } 2>&1)
grep -qiF -e "${error##*: }" -e "needs an approval" -e "a part of the system" status.txt || fail "status.txt lacks the error message"
