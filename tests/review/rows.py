"""Rows of the table of rules, as consequences bear them."""

from collections.abc import Iterable

from slipway.reviewing.consequence import Consequence


def rows_of(consequences: Iterable[Consequence]) -> frozenset[str]:
    return frozenset(told.row for told in consequences)
