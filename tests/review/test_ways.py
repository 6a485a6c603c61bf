"""Offers that submissions lose are warned of, and what a review calls rejected is. # N5 # N8"""

from collections.abc import Iterator, Mapping
from itertools import product

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.template import Offer
from slipway.model.findings.finding import Grade
from slipway.using.submission.offline import offline
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest
from tests.review.case import Case, Edit, stack, template
from tests.review.edits import LARGER_SHAPE, SEVERAL, WITH_BOTH
from tests.review.play import catalogs, play
from tests.review.world import NOW

TYPES, BIG_TYPES = '("spot", "flex-start", "on-demand")', '("pool", "reservation", "spot")'
TEAMS = """  slipway:teams:
    vision: { submitters: [group:vision@acme.example], clusters: [cpu] }
    speech: { submitters: [group:speech@acme.example], clusters: [] }
"""
GIVEN = (*WITH_BOTH, stack("  slipway:policy:\n", f"{TEAMS}  slipway:policy:\n"))
SHAPES = f"({LARGER_SHAPE}, {SEVERAL})"
EDITS = (
    template("lora", TYPES, '("spot", "on-demand")'),
    template("lora", TYPES, '("on-demand", "spot", "flex-start")'),
    template("lora", BIG_TYPES, '("pool", "reservation", "spot", "flex-start")'),
    template("lora", BIG_TYPES, '("reservation", "spot")'),
    template("lora", BIG_TYPES, '("spot", "reservation", "pool")'),
    template("lora", 'default="9b"', 'default="27b"'),
    template("lora", 'choices=("bf16", "fp32")', 'choices=("bf16",)'),
    template("lora", '{"model": "27b"}', '{"model": "27b", "precision": "bf16"}'),
    template("lora", SHAPES, f"({LARGER_SHAPE},)"),
    template("lora", SHAPES, SHAPES.replace('"spot", "on-demand"', '"on-demand", "spot"')),
    template("digits", '("pool", "spot", "on-demand")', '("on-demand", "pool", "spot")'),
    template("digits", "    timeout_s=", '    labels={"team": "vision"},\n    timeout_s='),
    stack("machine: n1-standard-4,", "machine: n1-standard-16,"),
    stack("machine: a3-highgpu-8g, machines: 2 }", "machine: a3-megagpu-8g, machines: 2 }"),
    stack("retireWithin: 2w\n", "retireWithin: 2w\n      until: 2026-11-20\n"),
    stack("    h100:\n", "    big:\n"),
    stack("clusters: [cpu]", "clusters: [cpu, h100]"),
    stack("clusters: [cpu]", "clusters: [ ]"),
    stack("clusters: []", "clusters: [big]"),
)
REJECTING = ("submission-rejected", "submission-changed", "no-offer-left", "offer-unavailable")


def ways(catalog: Catalog, name: str, values: Mapping[str, Scalar], team: str, type_: str = "") -> list[Offer]:
    """Return the offers by which `slipway submit` may send a submission; none where it refuses."""
    asked = SubmissionRequest(name, {key: str(value) for key, value in values.items()}, type_ or None, team=team)
    try:
        prepared = prepare(catalog, asked, "ada", now=NOW)
    except ConfigError:
        return []
    return [each.offer for each in prepared.candidates if not offline(each, reserved=catalog.reservations, now=NOW)]


def submissions(sides: tuple[Catalog, Catalog], name: str) -> Iterator[tuple[Mapping[str, Scalar], str]]:
    """Yield the values that decide on machines on either side, each with nobody's and each team."""
    choices: dict[str, dict[Scalar, None]] = {}
    for offer in (offer for side in sides for offer in side.templates[name].offers):
        for parameter in sides[1].templates[name].parameters:
            if parameter.name in offer.when:
                choices.setdefault(parameter.name, dict.fromkeys(parameter.choices))
    for values in product(*choices.values()):
        yield from ((dict(zip(choices, values, strict=True)), team) for team in ("", *sides[1].teams))


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(EDITS), min_size=1, max_size=3, unique_by=lambda edit: edit.old))
@example([EDITS[2], EDITS[5]])
@example([EDITS[15], EDITS[18]])
def test_a_lost_offer_is_a_warning_and_a_rejection_is_true(edits: list[Edit]) -> None:
    case = Case("any", tuple(edits), given=GIVEN)
    review = play(case)
    assume(not review.refused)
    sides = old, new = catalogs(case)
    for name in new.templates:
        told = {part.kind for part in review.findings if part.subject.name == name and part.grade >= Grade.WARNING}
        asked = [(ways(old, name, *each), ways(new, name, *each)) for each in submissions(sides, name)]
        for before, after in asked:
            had, has = ({(each.capacity_type, each.cluster) for each in side} for side in (before, after))
            assert had <= has or told & set(REJECTING), (name, had - has)
        if "no-offer-left" in told:
            assert any(not after for _, after in asked), name
