fail() { echo "$1"; exit 1; }
[ -f settings.json ] || fail "settings.json is missing"
wanted=$(cat <<'END'
{
  "name": "@WORD@",
  "rules": [
    { "match": "C:\\temp\\*.log", "say": "it's \"hot\"", "tags": ["a", "b"] },
    { "match": "^\\d+$", "say": "", "tags": [] }
  ],
  "limits": { "max": @NUMBER@, "deep": { "er": null, "on": true } }
}
END
)
[ "$(cat settings.json)" = "$wanted" ] || fail "settings.json has other content"
