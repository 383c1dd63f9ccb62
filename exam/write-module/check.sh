fail() { echo "$1"; exit 1; }
cmp -s test_slug.py - <<'END' || fail "test_slug.py was changed"
from slug import slug

assert slug("Hello, World!") == "hello-world"
assert slug("  a  b--c ") == "a-b-c"
assert slug("") == ""
assert slug("Crème brûlée") == "creme-brulee"
assert slug("x" * 50, limit=10) == "x" * 10
assert slug("ab cd ef", limit=6) == "ab-cd"
print("ok")
END
# The code that is tested prints values, which are compared here.
got=$(python3 -B test_slug.py 2>&1 && python3 -IB - 2>&1 <<'END'
import sys
sys.path.insert(0, ".")
from slug import slug
print(slug("@WORD@, @NUMBER@!"), slug("@WORD@ @NUMBER@", limit=9))
END
)
[ "${got##*$'\n'}" = "@WORD@-@NUMBER@ @WORD@" ] || fail "the tests fail: ${got##*$'\n'}"
