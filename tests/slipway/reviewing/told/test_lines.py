"""Lines of a review: one change is one line, and so is one thing that happens to many; its file and line. # N5 # N8"""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.model.findings.finding import Finding, Grade, Section, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.prices import Price
from slipway.reviewing.review import Review
from slipway.reviewing.rules.money import Amount, Money
from slipway.reviewing.told.cards import MOST_OPEN, lines
from slipway.reviewing.told.headline import LONGEST, brief, headline
from slipway.reviewing.told.places import located

GONE, SLOWER = KINDS["template-gone"], KINDS["timeout-changed"]


def gone(name: str) -> Finding:
    return GONE.of(Subject("template", name), f"Nobody can submit `{name}` any more", details=(f"ada did with {name}",))


def told(*findings: Finding, **fields: object) -> Review:
    return Review("prod", findings, **fields)  # type: ignore[arg-type]


def test_what_a_run_costs_is_told_with_the_time_that_it_may_take() -> None:
    of = Subject("template", "lora")
    fewer = KINDS["bounds-narrowed"].of(of, "Submissions with `trees` above 9 are refused")
    longer = SLOWER.of(of, "Jobs of `lora` may run 7 days instead of 1 h")
    cost = KINDS["run-cost"].of(of, "A usual run of `lora` costs more", clause="at most $0.56 → $92.98 a run")
    (refused, lasts), _ = lines((told(fewer, longer, cost),))
    assert cost.clause not in refused.sentence and lasts.sentence.endswith(cost.clause)


def test_what_follows_is_told_with_what_it_follows_from() -> None:
    made = KINDS["cluster-new-generation"].of(Subject("cluster", "h100"), "`h100` is made anew")
    paid = KINDS["generations-overlap"].of(Subject("cluster", "h100"), "Both are paid", clause="both are paid")
    slow = KINDS["image-cache-empty"].of(Subject("cluster", "h100"), "The first jobs start slower")
    other = replace(slow, subject=Subject("cluster", "cpu"))
    opened, folded = lines([told(slow, paid, made, other)])
    assert [(one.sentence, one.behind) for one in opened] == [
        (f"{made.sentence}; {paid.clause}", (slow.sentence, paid.sentence))
    ]
    assert [one.lead for one in folded] == [other]


def test_a_cluster_that_is_deleted_under_its_jobs_is_one_line() -> None:
    ends = KINDS["jobs-cancelled"].of(Subject("cluster", "h100"), "`x` is cancelled with `h100`")
    goes = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "`h100` is deleted", more=", for good")
    gone = KINDS["pool-gone"].of(Subject("pool", "h100/workers"), "Nobody can submit to it")
    other = replace(goes, subject=Subject("cluster", "cpu"))
    opened, folded = lines([told(gone, goes, ends, other)])
    assert [(one.lead, one.sentence, one.behind) for one in opened] == [
        (ends, ends.sentence, (goes.sentence,)),
        (gone, gone.sentence, ()),
        (other, other.sentence, ()),
    ]
    assert folded == ()
    assert lines([told(goes)])[0][0].lead == goes
    (line, _), _ = lines([told(gone, replace(goes, field="slipway:x"), ends)])
    assert (line.lead.kind, line.lead.field) == ("jobs-cancelled", "slipway:x"), "the edit that did it"


def test_what_only_costs_is_told_after_what_somebody_loses() -> None:
    lower = KINDS["capacity-lower-maximum"].of(Subject("pool", "cpu/workers"), "It can't grow as far")
    idle = KINDS["cluster-new-generation"].of(Subject("cluster", "gpu"), "A second one is made")
    paid = replace(idle, subject=Subject("cluster", "h100"), sentence="Both are paid", cost=100.0)
    assert [one.lead for one in lines([told(idle, paid, lower)])[0]] == [paid, lower, idle]
    waste, refused = replace(paid, grade=Grade.BLOCKING), gone("lora")
    assert [one.lead for one in lines([told(waste, refused)])[0]] == [refused, waste]


def test_money_alone_stands_with_what_it_is_for() -> None:
    costs = KINDS["idle-cost"].of(Subject("stack"), "It costs more", grade=Grade.WARNING)
    most = KINDS["most-cost"].of(Subject("stack"), "It costs more at most")
    made = KINDS["cluster-created"].of(Subject("cluster", "cpu"), "`cpu` is made")
    opened, folded = lines([told(most, made, costs)])
    assert [one.lead for one in opened] == [costs, made] and [one.lead for one in folded] == [most]
    slower = SLOWER.of(Subject("template", "lora"), "Jobs of `lora` wait")
    opened, folded = lines([told(slower, made, costs)])
    assert [one.lead for one in opened] == [slower]
    assert headline([told(slower, made, costs)]) == f"⚠ prod: {slower.sentence}", "the dollars say it"


def test_dollars_are_those_of_the_stack_that_the_headline_tells_of(snapshot: SnapshotAssertion) -> None:
    def costs(stack: str, idle: str, *findings: Finding) -> Review:
        amount = Amount(Price(), Price(Decimal(idle)))
        return Review(stack, findings, money=Money(amount, amount, Price()))

    worse = gone("lora")
    two = [costs("dev", "1"), costs("prod", "2", worse)]
    assert headline(two) == snapshot
    assert headline([two[0], costs("prod", "0", worse)]).endswith(" · dev +$730 a month")
    both = [costs("dev", "1", worse), costs("prod", "2", worse)]
    assert headline(both) == snapshot, "together"


def test_a_line_is_as_grave_as_what_follows() -> None:
    made = KINDS["cluster-returns"].of(Subject("cluster", "h100"), "`h100` comes back")
    paid = KINDS["generations-overlap"].of(Subject("cluster", "h100"), "Both are paid")
    (line,), _ = lines([told(made, paid)])
    assert line.grade is Grade.WARNING


def test_a_clause_that_makes_the_line_too_long_is_folded() -> None:
    made = KINDS["cluster-new-generation"].of(Subject("cluster", "h100"), "word " * 29)
    paid = KINDS["generations-overlap"].of(Subject("cluster", "h100"), "Both are paid", clause="both are paid")
    (line,), _ = lines([told(made, paid)])
    assert (line.sentence, line.behind) == (made.sentence, (paid.sentence,))


def test_many_that_are_hit_alike_are_one_line(snapshot: SnapshotAssertion) -> None:
    (line,), folded = lines([told(*map(gone, ("a", "b", "c", "d", "e")))])
    assert line.sentence == snapshot
    assert line.behind[0] == "`a`: ada did with a" and len(line.behind) == 5
    assert folded == ()


def test_a_verb_of_one_is_not_said_of_two() -> None:
    some = [KINDS["cluster-cleared"].of(Subject("cluster", one), f"`{one}` is cleared") for one in ("a", "b")]
    opened, _ = lines([told(*some)])
    assert len(opened) == 2


def test_what_is_the_same_in_all_stacks_is_told_once() -> None:
    dev, prod, test = Review("dev", (gone("a"),)), told(gone("a"), gone("b")), Review("test", (gone("c"),))
    assert [one.told for one in lines([dev, prod, replace(test, consequences=(gone("a"),))])[0]] == [
        gone("a").sentence,
        f"`prod`: {gone('b').sentence}",
    ]
    assert [one.stacks for one in lines([dev, Review("test")])[0]] == [("dev",)]


def test_the_worst_come_first_and_no_more_than_a_screen_is_open() -> None:
    grave = [replace(gone(f"t{n}"), sentence=f"word{n}") for n in range(9)]
    slower = SLOWER.of(Subject("template", "x"), "Jobs of `x` are ended sooner")
    rule = KINDS["policy-weaker"].of(Subject("policy", "regions"), "A rule only warns", grade=Grade.NOTE)
    opened, folded = lines([told(slower, *grave, rule)])
    assert len(opened) == MOST_OPEN
    assert [one.lead for one in opened] == [rule, *grave[:6]]
    assert [one.lead for one in folded] == [*grave[6:], slower]


def test_what_main_has_is_folded() -> None:
    mine, main = gone("a"), replace(gone("b"), sentence="Nobody can submit it")
    opened, folded = lines([told(mine, main, on_main=frozenset({main.key}))])
    assert [one.lead for one in opened] == [mine]
    assert [(one.lead, one.on_main) for one in folded] == [(main, True)]


@pytest.mark.parametrize("count", [1, 2, 3, 9])
@pytest.mark.parametrize("length", [10, 63, 200])
def test_a_headline_is_short_and_whole(count: int, length: int) -> None:
    found = [replace(gone("x" * length + str(n)), kind=f"kind-{n}") for n in range(count)]
    words = headline([told(*found)]).replace("`", "")
    assert len(words) <= LONGEST
    assert "…" not in words


@pytest.mark.parametrize(
    ("amount", "words"), [(12, "+$12"), (-1_712.43, "−$1.7k"), (885_996, "+$886k"), (1_250_000, "+$1.2M")]
)
def test_amounts_are_short(amount: float, words: str) -> None:
    from decimal import Decimal

    assert brief(Decimal(str(amount))) == words


STACK = """config:
  gcp:project: acme
  slipway:persistentResources:
    h100:
      pools:
        workers: { machine: a3-highgpu-8g, replicas: { min: 1, max: 6 } }
  slipway:templates: [lora]
"""
TEMPLATE = """TEMPLATE = JobTemplate(
    name="my-lora",
    parameters=(
        Parameter("rank", int, default=8),
    ),
    capacity_types=("spot",),
)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text(STACK)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "my_lora.py").write_text(TEMPLATE)
    return tmp_path


def field(checkout: Path, subject: str, key: str, stack: str = "prod") -> str:
    one = Finding(Section.TEMPLATES, "x", Subject.read(subject), Grade.NOTE, "x", field=key)
    return located(Review(stack, (one,)), checkout).consequences[0].field


@pytest.mark.parametrize(
    ("subject", "key", "place"),
    [
        ("cluster h100", "slipway:persistentResources.h100.pools.workers.replicas.max", "stacks/Pulumi.prod.yaml:6"),
        ("cluster cpu", "slipway:persistentResources.cpu", "stacks/Pulumi.prod.yaml:3"),
        ("stack", "gcp:project", "stacks/Pulumi.prod.yaml:2"),
        ("template my-lora parameter rank", "parameters.rank", "templates/my_lora.py:4"),
        ("template my-lora", "capacity_types", "templates/my_lora.py:6"),
        ("template my-lora", "timeout_s", "templates/my_lora.py"),
        ("template my-lora", "slipway:templates", "stacks/Pulumi.prod.yaml:7"),
    ],
)
def test_in_front_of_the_key(checkout: Path, subject: str, key: str, place: str) -> None:
    assert field(checkout, subject, key) == f"{place} {key}"


def test_what_can_t_be_found_keeps_its_key(checkout: Path) -> None:
    assert (
        field(checkout, "cluster h100", "slipway:persistentResources.h100", "dev") == "slipway:persistentResources.h100"
    )
    assert field(checkout, "template gone", "parameters.x") == "parameters.x"
    assert field(checkout, "bucket work", "") == ""
    (checkout / "stacks" / "Pulumi.prod.yaml").write_bytes(b"\xff: [")
    assert field(checkout, "cluster h100", "slipway:templates") == "slipway:templates"
