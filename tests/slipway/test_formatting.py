"""Numbers as people say them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway import formatting
from slipway.errors import ConfigError
from slipway.machines.spec import MachineSpec
from slipway.machines.table import regions


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (42.4, "42 s"),
        (59.6, "1 min"),
        (840, "14 min"),
        (11520, "3 h 12 min"),
        (7200, "2 h"),
        (777600, "9 days"),
    ],
)
def test_spans(seconds: float, said: str) -> None:
    assert formatting.span(seconds) == said


def test_a_unit_is_said_once_where_two_spans_have_no_other() -> None:
    assert (formatting.span_before(240, 540), formatting.span_before(50, 540)) == ("4", "50 s")
    assert formatting.span_before(3720, 11520) == "1 h 2 min", "as 1 of 3 h 12 min would be something else"


@pytest.mark.parametrize(
    ("count", "role", "said"),
    [(1, "workers", "1 worker"), (2, "workers", "2 workers"), (2, "trial", "2 trials"), ("1", "boss", "1 boss")],
)
def test_machines_of_a_role(count: int | str, role: str, said: str) -> None:
    assert formatting.counted(count, role) == said


def test_accelerators_are_named_where_the_machine_does_not_tell_them() -> None:
    assert str(MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)) == "n1-standard-8 with 2 NVIDIA_TESLA_T4"
    assert str(MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)) == "a3-highgpu-8g"
    assert str(MachineSpec("n1-standard-8")) == "n1-standard-8"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a b", "'a b'"),
        ("x" * 61, f"'{'x' * 60}…'"),
        ("a\n" * 5000, f"'{'a ' * 30}…'"),
        ("\x1b[2J", r"'\x1b[2J'"),
        (10**50, "1" + "0" * 50),
        (tuple(range(100)), f"{str(tuple(range(100)))[:60]}…"),
    ],
)
def test_a_value_is_repeated_in_quotes_and_short(value: object, said: str) -> None:
    assert formatting.quoted(value) == said


@given(st.text(max_size=600))
def test_what_is_short_is_one_line(text: str) -> None:
    said = formatting.short(text)
    assert len(said) <= 61 and "\n" not in said
    assert len(text) > 60 or said == " ".join(text.split())


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("slipway:quotas", "slipway:quota"),
        ("slipway:ways", None),
        ("slipway:x", None),
        ("slpway:quota", "slipway:quota"),
    ],
)
def test_what_all_have_before_a_colon_makes_nothing_near(word: str, near: str | None) -> None:
    assert formatting.nearest(word, ("slipway:quota", "slipway:templates", "gcp:region")) == near


@pytest.mark.parametrize(("seconds", "said"), [(2.44, "2.4 s"), (65, "1 min 05 s"), (3720, "1 h 02 min")])
def test_measured_times(seconds: float, said: str) -> None:
    assert formatting.exact(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (54_200_000_000, "54 GB"),
        (10**17, "100000 TB"),
    ],
)
def test_sizes(count: int, said: str) -> None:
    assert formatting.size(count) == said


@pytest.mark.parametrize(("seconds", "said"), [(0, "0:00"), (42, "0:42"), (3723, "1:02:03")])
def test_clocks(seconds: float, said: str) -> None:
    assert formatting.clock(seconds) == said


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("1 d", 86400)])
def test_durations(text: str, seconds: float) -> None:
    assert formatting.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5", "soon", "10 weeks", "1h30m", "nan", "9" * 400])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigError, match="invalid duration"):
        formatting.seconds(text)


@given(st.floats(0, 1e9))
def test_no_time_is_unspeakable(seconds: float) -> None:
    assert formatting.span(seconds) and formatting.exact(seconds) and formatting.clock(seconds)


@pytest.mark.parametrize(("amount", "said"), [(0, "$0"), (0.56, "$0.56"), (99.5, "$99.50"), (27_600, "$27,600")])
def test_cents_are_told_where_they_are_what_is_read(amount: float, said: str) -> None:
    assert formatting.usd(amount) == said


def test_lists() -> None:
    assert [formatting.join(one) for one in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_nearest_ignores_case_and_gives_up_on_nonsense() -> None:
    assert formatting.nearest("US-Central1", regions()) == "us-central1"
    assert formatting.nearest("!!!", regions()) is None
