"""Slipway's own errors in what a run printed: finding them takes time that grows as the text does. # N4"""

from collections.abc import Iterable, Iterator
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import Fault
from slipway.google.provider_errors import own_errors

LINES = (
    "error: it is refused",
    '    error: before hook "delete" failed: it is refused',
    "  why: somebody else's",
    "      why: somebody else's",
    "  fix: type that",
    "       and this",
    "error: googleapi: Error 403",
    "    error:",
    "",
    "\x1b[31merror:\x1b[0m coloured",
    "googleapi: Error 400: no\r",
)
MANY = 300
read = Fault.read


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=6))
def test_no_line_is_looked_at_more_than_twice(block: list[str]) -> None:
    """As an error's first line and as one below another's, however often they come and in whatever order."""
    looked = 0

    def counting(what: str, below: Iterable[str]) -> tuple[Fault, int]:
        def counted() -> Iterator[str]:
            nonlocal looked
            for line in below:
                looked += 1
                yield line

        return read(what, counted())

    lines = block * MANY
    with patch.object(Fault, "read", counting):
        own, foreign = own_errors("\n".join(lines))
    assert looked <= len(lines) and len(foreign) <= len(lines)
    assert len(own) <= len(block), "an error that comes again is told once"
