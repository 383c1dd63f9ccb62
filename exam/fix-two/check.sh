fail() { echo "$1"; exit 1; }
cat >/tmp/test_ledger.py <<'END'
from ledger.parse import parse
from ledger.show import show

rows = parse("2031-01-02;rent;-700,50\n\n2031-01-03;pay;2000\n# a note;x;1\n")
assert rows == [("2031-01-02", "rent", -70050), ("2031-01-03", "pay", 200000)], rows
assert show(rows) == "rent  -700.50\npay   2000.00", show(rows)
assert show([("", "a", -5)]) == "a  -0.05", show([("", "a", -5)])
print("ok")
END
cmp -s test_ledger.py /tmp/test_ledger.py || fail "test_ledger.py was changed"
cat >>/tmp/test_ledger.py <<'END'
assert parse("2031-01-04;@WORD@;@NUMBER@,07\n") == [("2031-01-04", "@WORD@", @NUMBER@07)]
assert show([("", "@WORD@", -@NUMBER@07)]) == "@WORD@  -@NUMBER@.07"
print("checked @NUMBER9@")
END
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD python3 /tmp/test_ledger.py >/tmp/out 2>&1
[ "$(tail -1 /tmp/out)" = "checked @NUMBER9@" ] || fail "the tests fail: $(tail -1 /tmp/out)"
