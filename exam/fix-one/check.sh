fail() { echo "$1"; exit 1; }
cat >/tmp/test_paging.py <<'END'
from paging import page_count, page_of

assert page_count(0, 10) == 0
assert page_count(10, 10) == 1
assert page_count(11, 10) == 2
assert page_of(list(range(25)), 3, 10) == [20, 21, 22, 23, 24]
assert page_of(list(range(25)), 1, 10) == list(range(10))
print("ok")
END
cmp -s test_paging.py /tmp/test_paging.py || fail "test_paging.py was changed"
cat >>/tmp/test_paging.py <<'END'
assert page_count(@NUMBER@, 7) == -(-@NUMBER@ // 7)
assert page_of(list(range(@NUMBER@)), 2, 7) == list(range(7, 14))
print("checked @NUMBER9@")
END
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD python3 /tmp/test_paging.py >/tmp/out 2>&1
[ "$(tail -1 /tmp/out)" = "checked @NUMBER9@" ] || fail "the tests fail: $(tail -1 /tmp/out)"
