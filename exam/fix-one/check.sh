fail() { echo "$1"; exit 1; }
cmp -s test_paging.py - <<'END' || fail "test_paging.py was changed"
from paging import page_count, page_of

assert page_count(0, 10) == 0
assert page_count(10, 10) == 1
assert page_count(11, 10) == 2
assert page_of(list(range(25)), 3, 10) == [20, 21, 22, 23, 24]
assert page_of(list(range(25)), 1, 10) == list(range(10))
print("ok")
END
# The code that is tested prints values, which are compared here.
got=$(python3 -B test_paging.py 2>&1 && python3 -IB - 2>&1 <<'END'
import sys
sys.path.insert(0, ".")
from paging import page_count, page_of
print("%d %s" % (page_count(@NUMBER@, 7), page_of(list(range(@NUMBER@)), 2, 7)))
END
)
[ "${got##*$'\n'}" = "$(((@NUMBER@ + 6) / 7)) [7, 8, 9, 10, 11, 12, 13]" ] || fail "the tests fail: ${got##*$'\n'}"
