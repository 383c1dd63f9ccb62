from ledger.parse import parse
from ledger.show import show

rows = parse("2031-01-02;rent;-700,50\n\n2031-01-03;pay;2000\n# a note;x;1\n")
assert rows == [("2031-01-02", "rent", -70050), ("2031-01-03", "pay", 200000)], rows
assert show(rows) == "rent  -700.50\npay   2000.00", show(rows)
assert show([("", "a", -5)]) == "a  -0.05", show([("", "a", -5)])
print("ok")
