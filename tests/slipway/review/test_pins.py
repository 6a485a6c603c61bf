"""A changed pin of slipway is a changed guard and judge, told old to new with what is new in it. # N5 N14"""

from pathlib import Path

import pytest

from slipway.findings.finding import Finding, Grade
from slipway.review.change import Files
from slipway.review.pins import Pins, read
from slipway.review.program import program
from slipway.review.release_notes import between
from tests.slipway.review.builders import change, facts

A, B = "a" * 64, "b" * 64
AT = "https://example.com/slipway_vertex-{}-py3-none-any.whl"
OLD = f"slipway-vertex[deploy] @ {AT.format('0.1.0')}#sha256={A}\nclick==8.2.0 \\\n    --hash=sha256:{B}\n"


def told(after: str, before: str = OLD, notes: tuple[str, ...] = (), unnoted: str = "") -> list[Finding]:
    pins = Pins(read(before), read(after), notes, unnoted)
    files = Files(frozenset({"requirements.txt"}), pins=pins, of_slipway=False)
    return list(program(change(facts(), facts(), files=files)))


@pytest.mark.parametrize(
    ("text", "version", "said"),
    [
        (f"slipway-vertex[deploy] @ {AT.format('0.2.0')}#sha256={A}", "0.2.0", "0.2.0"),
        (f"slipway_vertex=={'1.2.3'} --hash=sha256:{A}", "1.2.3", "1.2.3"),
        ("slipway-vertex @ git+https://example.com/x/y.git@3f2a91c0b7d4aa", "", "3f2a91c0b7d4"),
        ("slipway-vertex[deploy]@git+ssh://git@example.com/x/y.git@v1", "", "v1"),
        ("slipway-vertex>=0.1  # any", "", ">=0.1"),
        ("slipway-vertex", "", "any version"),
        ("./wheels/slipway_vertex-0.3.0-py3-none-any.whl", "0.3.0", "0.3.0"),
        ("-e ../checkout[deploy]", "", "-e ../checkout[deploy]"),
    ],
)
def test_slipway_is_found_however_it_is_pinned(text: str, version: str, said: str) -> None:
    (pin,) = read(f"# pins\n--index-url https://example.com/simple\n{text}\n").values()
    assert (pin.name, pin.version, str(pin)) == ("slipway-vertex", version, said)


@pytest.mark.parametrize("scheme", ["file", "http", "https"])
def test_a_wheel_at_an_address_comes_from_no_index(scheme: str) -> None:
    address = AT.format("0.2.0").replace("https", scheme)
    (pin,) = read(f"slipway-vertex[deploy] @ {address}#sha256={A}\n").values()
    assert (pin.address, pin.sha256) == (address, A)


def test_another_version_is_another_judge() -> None:
    (one,) = told(OLD.replace("0.1.0", "0.2.0").replace(A, B), notes=("0.2.0 added: a flag",))
    assert (one.kind, one.grade, one.subject) == ("slipway-changed", Grade.BLOCKING, "program slipway")
    assert "0.1.0 → 0.2.0" in one.sentence and "this review is 0.1.0's" in one.sentence
    assert "0.2.0 added: a flag" in one.details


def test_other_bytes_of_the_same_version_are_another_judge() -> None:
    (one,) = told(OLD.replace(A, B))
    assert one.kind == "slipway-changed" and "0.1.0 comes from elsewhere" in one.sentence


def test_what_is_not_known_of_it_is_said() -> None:
    (one,) = told(
        "slipway-vertex @ git+https://example.com/x.git@v2\nclick==8.2.0 \\\n    --hash=sha256:" + B, unnoted="y"
    )
    assert any("No hash" in line for line in one.details) and any("can't be told: y" in line for line in one.details)


NEW = OLD.replace("0.1.0", "0.2.0").replace(A, B)


@pytest.mark.parametrize(
    ("laptop", "kinds"),
    [
        (NEW.replace("[deploy]", "[local]"), ["slipway-changed"]),
        (OLD.replace("0.1.0", "0.3.0"), ["guard-unproven", "slipway-changed"]),
        (NEW.replace("click==8.2.0", "click==8.3.0"), ["guard-unproven", "slipway-changed"]),
    ],
    ids=["the same", "another", "more than that"],
)
def test_an_upgrade_of_both_files_of_pins_is_told_once(laptop: str, kinds: list[str]) -> None:
    both = frozenset({"requirements.txt", "requirements-local.txt"})
    before = OLD.replace("[deploy]", "[local]")
    pins, other = Pins(read(OLD), read(NEW)), Pins(read(before), read(laptop))
    files = Files(both, pins=pins, laptop=other, of_slipway=False)
    assert sorted(one.kind for one in program(change(facts(), facts(), files=files))) == kinds


def test_other_packages_are_told_beside_it() -> None:
    one, two = told(OLD.replace("8.2.0", "8.3.0").replace(A, B))
    assert (one.kind, two.kind) == ("slipway-changed", "guard-unproven")
    assert two.details == ("`click` `8.2.0` → `8.3.0`",)


def test_a_requirements_file_without_slipway() -> None:
    one, *_ = told("click==8.2.0\n")
    assert one.kind == "slipway-changed" and "no package" in one.sentence


def test_an_edit_that_pins_the_same_is_told_as_before() -> None:
    (one,) = told(f"# by hand\n{OLD}")
    assert one.kind == "guard-unproven"


CHANGELOG = """# Changelog
## [Unreleased]
- not yet
## [0.3.0] - 2027-02-01
### Added
- a third
## [0.2.0] - 2027-01-01
### Changed
- a second, that goes on
  over a line
### Fixed
- another
## [0.1.0] - 2026-11-23
### Added
- the first
"""


def test_notes_are_those_after_one_version_up_to_the_other() -> None:
    assert between(CHANGELOG, "0.1.0", "0.2.0") == (
        "0.2.0 changed: a second, that goes on over a line",
        "0.2.0 fixed: another",
    )
    assert between(CHANGELOG, "0.2.0", "0.3.0") == ("0.3.0 added: a third",)
    assert between(CHANGELOG, "0.3.0", "0.3.0") == between("<html>", "a", "") == ()


def test_the_package_has_this_repository_s_changelog() -> None:
    root = Path(__file__).parents[3]
    assert (root / "slipway" / "CHANGELOG.md").read_text() == (root / "CHANGELOG.md").read_text()
