cat >ledger/parse.py <<'END'
def parse(text):
    rows = []
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        date, name, amount = line.split(";")
        rows.append((date, name, round(float(amount.replace(",", ".")) * 100)))
    return rows
END
cat >ledger/show.py <<'END'
def show(rows):
    width = max(len(name) for _, name, _ in rows)
    lines = []
    for _, name, cents in rows:
        sign = "-" if cents < 0 else ""
        lines.append(f"{name.ljust(width)}  {sign}{abs(cents) // 100}.{abs(cents) % 100:02d}")
    return "\n".join(lines)
END
