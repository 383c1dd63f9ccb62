from slug import slug

assert slug("Hello, World!") == "hello-world"
assert slug("  a  b--c ") == "a-b-c"
assert slug("") == ""
assert slug("Crème brûlée") == "creme-brulee"
assert slug("x" * 50, limit=10) == "x" * 10
assert slug("ab cd ef", limit=6) == "ab-cd"
print("ok")
