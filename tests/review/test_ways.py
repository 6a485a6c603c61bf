"""Ways to run that a review says are lost or new are those that submissions lose or get. # N5 # N8"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, product

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.template import Offer
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
NOUNS = {"Spot": "spot", "machines on demand": "on-demand", "the reservation": "reservation", "a pool": "pool"}
LOST = "label `team`|can no longer|can't use|can't run|can run|can use|are refused|are not offered|may have|may use"


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


def holds(case: str, values: Mapping[str, Scalar]) -> bool:
    """Tell whether a case in words, `(model=27b or 9b, precision=fp32)`, holds a submission."""
    wanted = {name: text.split(" or ") for name, text in re.findall(r"(\w+)=([\w ]+)", case.partition("except")[0])}
    return all(str(values[name]) in some for name, some in wanted.items() if name in values)


def called(words: str) -> Callable[[Offer], bool]:
    """Return whether an offer is ``pool `h100` ``, or ``Spot with `g2-standard-24` ``."""
    noun, _, shape = words.partition(" (")[0].replace("`", "").partition(" with ")
    type_, _, cluster = (noun if noun.startswith("pool ") else NOUNS.get(noun, noun)).partition(" ")
    return lambda offer: offer.capacity_type == type_ and cluster in ("", offer.cluster) and shape in ("", offer.shape)


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(EDITS), min_size=1, max_size=3, unique_by=lambda edit: edit.old))
@example([EDITS[2], EDITS[5]])
@example([EDITS[15], EDITS[18]])
def test_ways_are_lost_and_new_as_a_review_says(edits: list[Edit]) -> None:
    case = Case("any", tuple(edits), given=GIVEN)
    review = play(case)
    assume(not review.refused)
    sides = old, new = catalogs(case)
    for name in new.templates:
        told = [part for part in review.consequences if f"`{name}`" in part.sentence]
        every = submissions(sides, name)
        asked = [(values, ways(old, name, values, team), ways(new, name, values, team), team) for values, team in every]
        for part in told:
            hit = [each for each in asked if holds(part.who, each[0])]
            if lost := re.match(r"can't use (.+?) any more", part.does):
                way = called(lost[1])
                assert any(map(way, chain(*(before for _, before, _, _ in hit)))), part.sentence
                assert not any(map(way, chain(*(after for _, _, after, _ in hit)))), part.sentence
                assert "nor run now" not in part.does or not any(after for _, _, after, _ in hit), part.sentence
            if use := re.match(r"can use (.+?)(?: now| instead of .*)?$", part.does):
                way = called(use[1])
                assert not any(map(way, chain(*(before for _, before, _, _ in hit)))), part.sentence
                open_to = [after for *_, after, team in hit if "alone)" not in use[1] or f"`{team}`" in use[1]]
                assert all(any(map(way, after)) for after in open_to), part.sentence
            for type_ in re.findall(r"`--capacity ([\w-]+)`(?=.* refused)", part.so):
                for values, *_, team in hit:
                    assert not ways(sides[1], name, {} if part.row == "default-changed" else values, team, type_), (
                        part.sentence
                    )
        for values, before, after, _ in asked:
            had, has = ({(each.capacity_type, each.cluster) for each in side} for side in (before, after))
            assert had <= has or any(re.search(LOST, part.does) and holds(part.who, values) for part in told), values
