fail() { echo "$1"; exit 1; }
cat >/tmp/test_slug.py <<'END'
from slug import slug

assert slug("Hello, World!") == "hello-world"
assert slug("  a  b--c ") == "a-b-c"
assert slug("") == ""
assert slug("Crème brûlée") == "creme-brulee"
assert slug("x" * 50, limit=10) == "x" * 10
assert slug("ab cd ef", limit=6) == "ab-cd"
print("ok")
END
cmp -s test_slug.py /tmp/test_slug.py || fail "test_slug.py was changed"
cat >>/tmp/test_slug.py <<'END'
assert slug("@WORD@, @NUMBER@!") == "@WORD@-@NUMBER@"
assert slug("@WORD@ @NUMBER@", limit=9) == "@WORD@"
print("checked @NUMBER9@")
END
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD python3 /tmp/test_slug.py >/tmp/out 2>&1
[ "$(tail -1 /tmp/out)" = "checked @NUMBER9@" ] || fail "the tests fail: $(tail -1 /tmp/out)"
