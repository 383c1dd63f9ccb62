fail() { echo "$1"; exit 1; }
[ -f count.txt ] || fail "count.txt is missing"
count=0
for n in @NUMBER0@ @NUMBER1@ @NUMBER2@ @NUMBER3@ @NUMBER4@ @NUMBER5@ @NUMBER6@ @NUMBER7@ @NUMBER8@ @NUMBER9@; do
  [ "$n" -lt 5000 ] || count=$((count + 1))
done
[ "$(tr -d '[:space:]' <count.txt)" = "$count" ] || fail "count.txt has another number"
