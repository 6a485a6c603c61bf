"""Cases of a template before and after an edit: both sides are divided alike, so that untouched ones are compared."""

from dataclasses import replace

from slipway.model.catalog.cases import divided
from slipway.model.catalog.template import Parameter
from tests.builders.catalogs import offer, template

SIZES, TYPES = ("small", "medium", "large", "xl"), ("bf16", "fp32")
PARAMETERS = (
    Parameter("size", "str", "small", choices=SIZES),
    Parameter("precision", "str", "bf16", choices=TYPES),
)


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
