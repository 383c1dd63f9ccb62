fail() { echo "$1"; exit 1; }
cat >/tmp/wanted <<'END'
def @WORD@_rows(path):
    with open(path) as file:
        return file.read().split("\n")


def fetch_rows_all(paths):
    return [@WORD@_rows(path) for path in paths]
END
cmp -s shop/rows.py /tmp/wanted || fail "shop/rows.py differs from what was asked"
cat >/tmp/wanted <<'END'
from shop.rows import @WORD@_rows, fetch_rows_all


def report(path):
    # @WORD@_rows reads the whole file
    return len(@WORD@_rows(path)), fetch_rows_all([path])
END
cmp -s shop/report.py /tmp/wanted || fail "shop/report.py differs from what was asked"
cat >/tmp/wanted <<'END'
import sys

from shop import rows

print(rows.@WORD@_rows(sys.argv[1]), rows.fetch_rows_all([]))
END
cmp -s main.py /tmp/wanted || fail "main.py differs from what was asked"
