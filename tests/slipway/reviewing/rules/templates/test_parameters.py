"""Parameters of a template, as reviews tell their changes: defaults, bounds, names. # N5 # N31"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from slipway.model.catalog.template import Parameter
from slipway.model.findings.finding import Grade
from slipway.model.labels import VARIABLE, recorded
from slipway.model.prices import UNKNOWN, Price
from tests.slipway.reviewing.builders import H100, job, request, worker_pool
from tests.slipway.reviewing.rules.templates.two_ways import BLOCKING, LORA, SIZE, SPOT, TREES, found, only


def test_another_default_needs_an_approval_unless_its_machines_are_known_to_cost_no_more() -> None:  # N5 Z8
    def graded(price: Price) -> Grade:
        larger = request(worker_pool(machine=H100), capacity_type="spot")
        ways = (
            replace(SPOT, when={"size": ("2b",)}),
            replace(SPOT, when={"size": ("9b", "27b")}, price_per_hour=price, request=larger),
        )
        old = replace(LORA, offers=ways)
        sent = job("a", template="lora", env={VARIABLE: recorded({"size": "2b"})}, state="SUCCEEDED")
        told = found(old, replace(old, parameters=(TREES, replace(SIZE, default="9b"))), recent=(sent,))
        return next(each.grade for each in told if each.kind == "default-changed")

    assert graded(Price(Decimal("99"))) == BLOCKING
    assert graded(Price(Decimal("0.01"))) == Grade.WARNING
    assert graded(UNKNOWN) == BLOCKING
    assert graded(Price(Decimal("0.01"), complete=False)) == BLOCKING


def test_a_list_is_told_by_its_items() -> None:  # N31
    layers = Parameter("layers", "list[int]", (64, 32), 1, 512)
    words = Parameter("words", "list[str]", ("relu",), choices=("relu", "gelu"))
    old = replace(LORA, parameters=(layers, words))

    def phrase(parameter: Parameter, **world: Any) -> str:
        others = tuple(each for each in old.parameters if each.name != parameter.name)
        return only(old, replace(old, parameters=(parameter, *others)), **world).sentence

    default = phrase(replace(layers, default=(64,)))
    assert default.startswith("Submissions of `lora` without `layers` get `64` instead of `64,32`")
    assert phrase(replace(words, choices=("relu",))).startswith("Submissions of `lora` with `words` `gelu` are refused")
    given = job("a", template="lora", env={VARIABLE: recorded({"layers": (500, 400)})}, state="SUCCEEDED")
    (narrowed,) = found(old, replace(old, parameters=(replace(layers, max=400), words)), recent=(given,))
    assert "with `layers` above 400 (it was 512) are refused" in narrowed.sentence
    assert narrowed.instead.startswith("let scripts, sweeps and schedules give another value first")
    several = replace(TREES, type="list[int]", default=(100,))
    wider = only(replace(old, parameters=(TREES,)), replace(old, parameters=(several,)))
    assert "may give `trees` as list[int]: code that reads a whole number may fail" in wider.sentence
    keys = Parameter("keys", "list[str]", (f"hf_{'aB3' * 12}", "b"))
    secret = {told.kind: told for told in found(old, replace(old, parameters=(layers, words, keys)))}
    assert secret["plain-secret"].grade == BLOCKING and not any("aB3" in told.sentence for told in secret.values())


def test_a_bound_is_told_with_all_its_digits() -> None:  # N5
    tokens = Parameter("tokens", "int", 1, max=2_500_000)
    narrower = replace(LORA, parameters=(replace(tokens, max=1_234_567),))
    told = only(replace(LORA, parameters=(tokens,)), narrower)
    assert "above 1234567 (it was 2500000) are refused" in told.sentence
    assert narrower.parameters[0].refusal(2_000_000) == "is above max 1234567"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"min": 1, "max": 9}, {"max": 9}, ["may have `n` below 1 too"]),
        ({"min": 1, "max": 9}, {}, ["may have `n` below 1 too and above 9 too"]),
        ({"choices": (1, 8)}, {"min": 1, "max": 8}, ["may have `n` of 1 to 8, not only its choices"]),
        (
            {"choices": (1, 8)},
            {"max": 4},
            ["with `n` `8` are refused", "may have `n` of at most 4, not only its choices"],
        ),
        ({"choices": (1, 8)}, {}, ["may have `n` of any value, not only its choices"]),
    ],
)
def test_bounds_say_what_is_refused_now_and_what_was_before(
    old: dict[str, Any], new: dict[str, Any], words: list[str]
) -> None:
    before, after = (replace(LORA, parameters=(Parameter("n", "int", 1, **side),)) for side in (old, new))
    assert [told.sentence.removeprefix("Submissions of `lora` ") for told in found(before, after)] == words


@pytest.mark.parametrize(("name", "kind"), [("fast_run", "parameter-renamed"), ("verbose", "parameter-gone")])
def test_a_switch_is_renamed_where_its_names_have_a_word_in_common(name: str, kind: str) -> None:
    old, new = (replace(LORA, parameters=(Parameter(each, "bool", False),)) for each in ("fast", name))
    assert kind in {told.kind for told in found(old, new)}


@pytest.mark.parametrize(("default", "did"), [(4, "gave it a value of their own"), (None, "set it")])
def test_users_of_a_parameter_that_goes_are_told_by_its_default_if_it_has_one(default: int | None, did: str) -> None:
    old, new = (replace(LORA, parameters=some) for some in ((Parameter("depth", "int", default),), ()))
    sent = job("a", template="lora", env={VARIABLE: recorded({"depth": 8})}, state="SUCCEEDED")
    (gone,) = (told for told in found(old, new, recent=(sent,)) if told.kind == "parameter-gone")
    assert [detail.partition(f" {did} in")[0] for detail in gone.details] == ["1 submission by user-a"]
