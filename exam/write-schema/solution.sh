cat >release.json <<'END'
{"version": "2.@NUMBER@.0", "date": "2031-03-09", "changes": [{"kind": "fixed", "text": "rounding"}, {"kind": "added", "text": "--dry-run"}, {"kind": "removed", "text": "XML"}]}
END
