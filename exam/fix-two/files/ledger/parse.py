def parse(text):
    """Returns (date, name, cents) for each line `date;name;amount`. Lines that begin with # are notes."""
    rows = []
    for line in text.split("\n"):
        if not line:
            continue
        date, name, amount = line.split(";")
        rows.append((date, name, int(float(amount) * 100)))
    return rows
