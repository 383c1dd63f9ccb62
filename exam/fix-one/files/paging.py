"""Pages of a list; the first has the number 1."""


def page_count(total, size):
    return total // size


def page_of(rows, number, size):
    start = number * size
    return rows[start : start + size]
