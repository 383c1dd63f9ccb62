cat >settings.json <<'END'
{
  "name": "@WORD@",
  "rules": [
    { "match": "C:\\temp\\*.log", "say": "it's \"hot\"", "tags": ["a", "b"] },
    { "match": "^\\d+$", "say": "", "tags": [] }
  ],
  "limits": { "max": @NUMBER@, "deep": { "er": null, "on": true } }
}
END
