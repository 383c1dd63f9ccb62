fail() { echo "$1"; exit 1; }
[ -f total.txt ] || fail "total.txt is missing"
[ "$(tr -d '[:space:]' <total.txt)" = "$((@NUMBER0@ + @NUMBER1@ + @NUMBER2@ + @NUMBER3@ + @NUMBER4@ + @NUMBER5@))" ] || fail "total.txt has another number"
