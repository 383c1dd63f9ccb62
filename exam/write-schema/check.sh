fail() { echo "$1"; exit 1; }
[ -f release.json ] || fail "release.json is missing"
python3 -I - <<'END' || fail "release.json does not match schema.json or notes.txt"
import json, re
got = json.load(open("release.json"))
assert sorted(got) == ["changes", "date", "version"]
assert got["version"] == "2.@NUMBER@.0" and got["date"] == "2031-03-09"
assert [one["kind"] for one in got["changes"]] == ["fixed", "added", "removed"]
assert all(sorted(one) == ["kind", "text"] for one in got["changes"])
assert all(re.search(about, one["text"], re.I) for about, one in zip(["round|sum", "dry.run", "xml"], got["changes"]))
END
