fail() { echo "$1"; exit 1; }
cmp -s shop/rows.py - <<'END' || fail "shop/rows.py differs from what was asked"
def @WORD@_rows(path):
    with open(path) as file:
        return file.read().split("\n")


def fetch_rows_all(paths):
    return [@WORD@_rows(path) for path in paths]
END
cmp -s shop/report.py - <<'END' || fail "shop/report.py differs from what was asked"
from shop.rows import @WORD@_rows, fetch_rows_all


def report(path):
    # @WORD@_rows reads the whole file
    return len(@WORD@_rows(path)), fetch_rows_all([path])
END
cmp -s main.py - <<'END' || fail "main.py differs from what was asked"
import sys

from shop import rows

print(rows.@WORD@_rows(sys.argv[1]), rows.fetch_rows_all([]))
END
