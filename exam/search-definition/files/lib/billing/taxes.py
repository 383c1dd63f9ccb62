"""The taxes of the shop."""

from lib.billing.sums import @WORD@_total


def taxes_of(rows):
    return [@WORD@_total(row) for row in rows]
