"""The vans of the shop."""

from lib.billing.sums import @WORD@_total


def vans_of(rows):
    return [@WORD@_total(row) for row in rows]
