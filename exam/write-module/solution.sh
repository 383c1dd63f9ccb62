cat >slug.py <<'END'
import re
import unicodedata


def slug(text, limit=None):
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = "-".join(re.findall(r"[a-z0-9]+", plain))
    if limit is None or len(found) <= limit:
        return found
    cut = found[: limit + 1]
    return cut.rsplit("-", 1)[0] if "-" in cut else found[:limit]
END
