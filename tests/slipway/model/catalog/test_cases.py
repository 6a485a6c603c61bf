"""Cases of a template before and after an edit: both sides are divided alike, so that untouched ones are compared."""

from dataclasses import replace
from itertools import product
from random import Random

from slipway.model.catalog.cases import divided
from slipway.model.catalog.template import OF_TEAM, Offer, Parameter, Rivals
from tests.builders.catalogs import offer, template

SIZES, TYPES = ("small", "medium", "large", "xl"), ("bf16", "fp32")
PARAMETERS = (
    Parameter("size", "str", "small", choices=SIZES),
    Parameter("precision", "str", "bf16", choices=TYPES),
)


def compete(offer: Offer, other: Offer) -> bool:
    """Return whether a submission may choose between two offers."""
    if offer.team != other.team or offer.kind != other.kind:
        return False
    return all(set(values) & set(other.when.get(name, values)) for name, values in offer.when.items())


def test_a_refusal_of_fewer_values_leaves_the_case_of_others_as_it_was() -> None:  # N5
    """A comment said that jobs of an untouched case lose the pool, and that others can use it."""
    refused = replace(offer(), available=False, when={"size": ("large", "xl"), "precision": ("fp32",)})
    old = (
        refused,
        offer(when={"size": ("xl",), "precision": ("bf16",)}),
        offer(when={"size": ("medium",)}),
        offer(when={"size": ("large",), "precision": ("bf16",)}),
        offer(when={"size": ("small",)}),
    )
    new = (
        replace(refused, when={"size": ("xl",), "precision": ("fp32",)}),
        offer(when={"size": ("xl",), "precision": ("bf16",)}),
        offer(when={"size": ("medium", "large")}),
        offer(when={"size": ("small",)}),
    )
    sides = divided(*(template("asr", *some, parameters=PARAMETERS) for some in (old, new)))
    cases = [sorted(str(each.when) for each in side.offers) for side in sides]
    assert cases[0] == cases[1] and "{'size': ('medium',)}" in cases[0]


def test_offers_that_a_submission_may_choose_too_are_found_at_once_as_one_by_one() -> None:
    random = Random(1)
    kinds, values = ("custom-job", "training-pipeline"), {"size": SIZES, "n": (0, 1, 2), OF_TEAM: ("vision", "speech")}
    for _ in range(30):
        cases = [
            {
                name: tuple(random.sample(some, 1 if name == OF_TEAM else 2))
                for at, (name, some) in enumerate(values.items())
                if bits >> at & 1
            }
            for bits in (random.randrange(8) for _ in range(12))
        ]
        some = [replace(offer(when=case), kind=kind) for case, kind in product(cases, kinds)]
        rivals = Rivals(some)
        for each in some:
            assert rivals.of(each) == [place for place, other in enumerate(some) if compete(other, each)]
