"""Versions of the engine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.engine.version import PINNED, Version, parse

numbers = st.integers(min_value=0, max_value=9999)
versions = st.builds(Version, numbers, numbers, numbers)


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("v3.259.0\n", Version(3, 259, 0)),
        ("3.259.0", Version(3, 259, 0)),
        ("v3.260.0-alpha.x1a2b3c", Version(3, 260, 0, "alpha.x1a2b3c")),
        ("v3.260.1+dirty", Version(3, 260, 1)),
    ],
)
def test_what_pulumi_prints_is_understood(printed: str, version: Version) -> None:
    assert parse(printed) == version


@pytest.mark.parametrize(
    "printed", ["", "pulumi", "v3.259", "v3.259.0 (beta)", "<html>3.259.0</html>", "3.259.0\n3.260.0"]
)
def test_anything_else_is_no_version(printed: str) -> None:
    assert parse(printed) is None


@given(versions)
def test_a_version_reads_back_what_it_prints(version: Version) -> None:
    assert parse(f"v{version}") == version


@given(versions, versions)
def test_the_order_is_by_number_and_not_by_text(one: Version, other: Version) -> None:
    newer = (one.major, one.minor, one.patch) >= (other.major, other.minor, other.patch)
    assert one.at_least(other) == newer


@pytest.mark.parametrize(
    ("text", "serves"),
    [("3.258.9", False), ("3.259.0", True), ("3.1000.0", True), ("4.0.0", True), ("3.259.0-rc.1", False)],
)
def test_the_pinned_version_is_the_oldest_that_serves(text: str, serves: bool) -> None:
    version = parse(text)
    assert version is not None
    assert version.at_least(PINNED) is serves


def test_prereleases_are_ordered_by_their_numbers() -> None:
    assert Version(3, 260, 0, "alpha.10").at_least(Version(3, 260, 0, "alpha.9"))
    assert not Version(3, 260, 0, "alpha.9").at_least(Version(3, 260, 0, "alpha.10"))
