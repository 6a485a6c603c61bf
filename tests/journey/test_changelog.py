"""The changelog has its form, and the version that it tells of is the one that is built."""

import tomllib
from pathlib import Path

import pytest
from packaging.version import Version

from journey.changelog import notes, read
from slipway.base.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
GOOD = """# Changelog

What it is.

## [Unreleased]

## [0.10.0] - 2026-11-23

### Added

- One thing
  of two lines.

### Fixed

- Another.

## [0.9.0] - 2026-11-23

### Added

- All.
"""


def test_ours_has_the_form_and_the_version_that_is_built() -> None:
    _, newest, *_ = read((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    built = Version(project["version"])
    assert built > Version(newest.version) if built.is_devrelease else built == Version(newest.version)
    assert newest.text


def test_the_notes_are_what_is_below_the_newest_version() -> None:
    assert notes(read(GOOD), "0.10.0") == "### Added\n\n- One thing\n  of two lines.\n\n### Fixed\n\n- Another."


@pytest.mark.parametrize(
    ("was", "becomes", "line"),
    [
        ("# Changelog\n", "# Changes\n", 1),
        ("## [Unreleased]\n", "## [Unreleased] - 2026-11-23\n", 5),
        ("## [Unreleased]\n\n", "", 5),
        ("[0.10.0]", "[0.10]", 7),
        ("[0.10.0] - 2026-11-23", "[0.10.0] - 2026-23-11", 7),
        ("### Added\n\n- One", "### News\n\n- One", 9),
        ("- Another", "Another", 16),
        ("[0.9.0]", "[0.11.0]", 18),
        ("[0.9.0] - 2026-11-23", "[0.9.0] - 2026-11-24", 18),
    ],
)
def test_another_form_is_told_with_its_line(was: str, becomes: str, line: int) -> None:
    assert was in GOOD
    with pytest.raises(ConfigError) as told:
        read(GOOD.replace(was, becomes, 1))
    assert told.value.what.startswith(f"CHANGELOG.md:{line} ")


def test_notes_name_files_of_the_sources_and_link_only_what_is_elsewhere() -> None:
    told = "- [docs/a.md](docs/a.md#b), [how](docs/c.md), [site](https://example.com/)."
    linked = GOOD.replace("- Another.", told)
    assert notes(read(linked), "0.10.0").endswith("- docs/a.md, how (docs/c.md), [site](https://example.com/).")


def test_a_version_that_is_not_the_newest_has_no_notes() -> None:
    with pytest.raises(ConfigError, match=r"0\.10\.0 as its newest version, not 0\.11\.0"):
        notes(read(GOOD), "0.11.0")


def test_nothing_is_left_below_unreleased() -> None:
    left = GOOD.replace("## [Unreleased]\n", "## [Unreleased]\n\n### Fixed\n\n- A thing.\n")
    with pytest.raises(ConfigError, match="in no version"):
        notes(read(left), "0.10.0")
