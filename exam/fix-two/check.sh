fail() { echo "$1"; exit 1; }
cmp -s test_ledger.py - <<'END' || fail "test_ledger.py was changed"
from ledger.parse import parse
from ledger.show import show

rows = parse("2031-01-02;rent;-700,50\n\n2031-01-03;pay;2000\n# a note;x;1\n")
assert rows == [("2031-01-02", "rent", -70050), ("2031-01-03", "pay", 200000)], rows
assert show(rows) == "rent  -700.50\npay   2000.00", show(rows)
assert show([("", "a", -5)]) == "a  -0.05", show([("", "a", -5)])
print("ok")
END
# The code that is tested prints values, which are compared here.
got=$(python3 -B test_ledger.py 2>&1 && python3 -IB - 2>&1 <<'END'
import sys
sys.path.insert(0, ".")
from ledger.parse import parse
from ledger.show import show
[row] = parse("2031-01-04;@WORD@;@NUMBER@,07\n")
print("%s %s %d" % row, show([("", "@WORD@", -@NUMBER@07)]))
END
)
[ "${got##*$'\n'}" = "2031-01-04 @WORD@ @NUMBER@07 @WORD@  -@NUMBER@.07" ] || fail "the tests fail: ${got##*$'\n'}"
