fail() { echo "$1"; exit 1; }
[ -f table.csv ] || fail "table.csv is missing"
awk 'BEGIN { print "n,square,sum"; for (n = 1; n < 150; n++) print n "," n * n "," n + @NUMBER@ }' >/tmp/wanted
printf '%s\n' "$(cat table.csv)" | cmp - /tmp/wanted >/tmp/out 2>&1 || fail "table.csv is wrong from $(sed 's/.*line/line/' /tmp/out) on"
