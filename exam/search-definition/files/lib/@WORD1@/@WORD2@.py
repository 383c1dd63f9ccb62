"""The sums of the shop."""

# See also: the total of a van.



def @WORD@_totals(rows):
    return [@WORD@_total(row) for row in rows]


def @WORD@_total(row):
    return sum(row)
