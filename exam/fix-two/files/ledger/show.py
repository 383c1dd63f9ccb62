def show(rows):
    """Returns a line for each row: the name in a column, two blanks, the amount with two decimals."""
    width = max(len(name) for _, name, _ in rows)
    lines = []
    for _, name, cents in rows:
        lines.append(f"{name.ljust(width)}  {cents // 100}.{cents % 100:02d}")
    return "\n".join(lines)
