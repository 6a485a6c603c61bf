"""Parameters choose machine and capacity type: for any values exactly one case stands, the first variant that fits. #
Z1"""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.errors import ConfigError
from slipway.template import JobTemplate, Parameter, Variant, WorkerPool
from slipway.template.case import Case, cases

from .conftest import template

CHOICES: dict[str, tuple[Any, ...]] = {"size": ("2b", "9b", "27b"), "gpu": ("L4", "H100"), "quick": (False, True)}
PARAMETERS = (
    Parameter("size", str, default="2b", choices=CHOICES["size"]),
    Parameter("gpu", str, default="L4", choices=CHOICES["gpu"]),
    Parameter("quick", bool, default=False),
)
CHIEF = WorkerPool("chief", "n1-standard-4", args=("${size} ${gpu} ${quick}",))
LARGE = (WorkerPool("chief", "a3-highgpu-8g", args=("${size}",)),)


def varied(*variants: Variant) -> JobTemplate:
    return template(worker_pools=(CHIEF,), parameters=PARAMETERS, variants=variants)


def standing(found: tuple[Case, ...], values: dict[str, Any]) -> list[Case]:
    return [case for case in found if all(values[name] in allowed for name, allowed in case.when.items())]


def test_without_variants_the_templates_own_machines_always_stand() -> None:
    asked = template()
    (only,) = cases(asked)
    assert (only, str(only)) == (Case(), "")
    assert (only.worker_pools(asked), only.capacity_types(asked)) == (asked.worker_pools, asked.capacity_types)


def test_a_variant_brings_its_machines_and_capacity_types_and_leaves_the_rest_to_the_template() -> None:
    asked = varied(
        Variant({"size": "27b"}, LARGE, ("flex-start",)), Variant({"gpu": "H100"}, capacity_types=("on-demand",))
    )
    largest, gpu, own = cases(asked)
    assert (str(largest), largest.worker_pools(asked), largest.capacity_types(asked)) == (
        "size=27b",
        LARGE,
        ("flex-start",),
    )
    assert (str(gpu), gpu.worker_pools(asked), gpu.capacity_types(asked)) == (
        "gpu=H100, size=2b or 9b",
        (CHIEF,),
        ("on-demand",),
    )
    assert (str(own), own.worker_pools(asked)) == ("gpu=L4, size=2b or 9b", (CHIEF,))


def test_the_templates_own_machines_stand_in_no_case_when_the_variants_leave_none() -> None:
    asked = varied(Variant({"quick": True}, LARGE), Variant({"quick": False}, capacity_types=("on-demand",)))
    assert [str(case) for case in cases(asked)] == ["quick=True", "quick=False"]


WHEN = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple) for name, values in CHOICES.items()
    },
).filter(bool)


@given(st.lists(WHEN, max_size=4))
def test_for_any_values_exactly_one_case_stands_and_it_is_the_first_that_fits(whens: list[dict[str, Any]]) -> None:
    variants = tuple(Variant(when, capacity_types=("on-demand",)) for when in whens)
    found = cases(varied(*variants))
    for combination in product(*CHOICES.values()):
        values = dict(zip(CHOICES, combination, strict=True))
        (case,) = standing(found, values)
        fitting = [one for one in variants if all(values[name] in allowed for name, allowed in one.values.items())]
        assert case.variant == (fitting[0] if fitting else None)


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant({}, LARGE), "`when` is empty"),
        (Variant({"model": "2b"}, LARGE), "unknown parameter model"),
        (Variant({"trees": 1}, LARGE), "parameter trees chooses a variant, so it needs choices"),
        (Variant({"size": "70b"}, LARGE), "size '70b' is none of 2b, 9b, 27b"),
        (Variant({"size": "2b"}), "it changes nothing"),
        (Variant({"size": "2b"}, (WorkerPool("chief", "n1-standard-9"),)), "variant 1: worker pool 'chief': unknown"),
        (Variant({"size": "2b"}, capacity_types=("flex",)), "variant 1: capacity_types: unknown 'flex'"),
    ],
)
def test_a_variant_that_makes_no_sense_is_told(variant: Variant, words: str) -> None:
    with pytest.raises(ConfigError) as error:
        template(
            worker_pools=(WorkerPool("chief", "n1-standard-4", args=("${size} ${trees}",)),),
            parameters=(PARAMETERS[0], Parameter("trees", int, default=1)),
            variants=(variant,),
        )
    assert words in error.value.why
