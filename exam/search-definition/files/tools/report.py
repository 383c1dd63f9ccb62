"""The report of the shop."""

from lib.@WORD1@.@WORD2@ import @WORD@_total


def report_of(rows):
    return [@WORD@_total(row) for row in rows]
