"""Cards of a review and the lines that stand open for them: one for each thing that is hit. # N5 # N8"""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.review import Review
from slipway.reviewing.told.cards import LONGEST, MOST_OPEN, Card, arranged
from slipway.reviewing.told.headline import addresses, brief, headline

H100, LORA = Subject("cluster", "h100"), Subject("template", "lora")
WHY = Edit("replicas.max", "4", "6")
MADE = consequence(
    "cluster-new-generation", H100, "must be made", who="A second {it}", so="it can't change", edits=[WHY]
)
PAID = consequence("generations-overlap", H100, "both are paid", who="", instead="revert: it is free")
SLOW = consequence("jobs-finish-on-old", H100, "start slower", who="Its first jobs")
SLOWER = consequence("timeout-changed", LORA, "are ended after 1 h", who="Jobs of {it}")


def gone(name: str) -> Consequence:
    return consequence("template-gone", Subject("template", name), "are refused", who="Submissions of {it}")


def of(*parts: Consequence, **fields: object) -> Review:
    return Review("prod", parts, **fields)  # type: ignore[arg-type]


def opened(*parts: Consequence, **fields: object) -> list[str]:
    return [line.told for line in arranged([of(*parts, **fields)]).opened]


def folded(*parts: Consequence) -> list[str]:
    return [line.told for line in arranged([of(*parts)]).folded]


def test_all_that_happens_to_a_thing_is_one_line_with_its_heaviest_parts() -> None:
    assert opened(SLOW, PAID, MADE) == ["A second `h100` must be made: it can't change; both are paid"]
    assert folded(SLOW, PAID, MADE) == []
    again = replace(SLOWER, kind="image-changed", does="run image `x`")
    assert opened(SLOWER, again) == ["Jobs of `lora` are ended after 1 h; they run image `x`"]


def test_each_sentence_has_an_address() -> None:  # N5
    named = replace(SLOWER, row="timeout-shorter")
    assert addresses([of(named, replace(PAID, row="overlap"))]) == (
        "timeout-shorter  timeout-changed      Jobs of lora are ended after 1 h\n"
        "overlap          generations-overlap  both are paid"
    )


def test_other_cases_that_lose_the_same_are_named() -> None:
    first, *others = (replace(SLOWER, who=f"Jobs of {{it}} (size={size})", so=f"they cost ${size}") for size in "123")
    told = "; jobs of `lora` (size=2) and jobs of `lora` (size=3) are ended after 1 h"
    assert opened(first, *others) == [f"Jobs of `lora` (size=1) are ended after 1 h: they cost $1{told}"]


def test_a_part_for_which_there_is_no_room_is_in_the_card_alone() -> None:
    long = replace(MADE, does=" ".join(["word"] * (LONGEST - 4)), so="")
    assert opened(long, PAID) == [f"A second `h100` {long.does}"]
    rest = "word " * LONGEST
    assert opened(replace(MADE, so=rest))[0] == "A second `h100` must be made"
    cut = replace(MADE, so=f"quota lacks 2 (limit 3; {rest})")
    assert opened(cut)[0] == "A second `h100` must be made", "no bracket is left open"
    assert (
        opened(replace(MADE, so=f"nothing can be sent; {rest}"))[0]
        == "A second `h100` must be made: nothing can be sent"
    )


def test_a_pronoun_is_for_whom_the_line_has_named_last() -> None:
    long = consequence("template-gone", LORA, "word " * LONGEST, who="Submissions of {it}")
    refused = replace(long, kind="parameter-gone", does="are refused")
    lead = replace(SLOWER, grade=Grade.BLOCKING, kind="account-changed")
    parts = (lead, replace(long, kind="kind-gone", grade=Grade.WARNING), replace(refused, grade=Grade.WARNING))
    assert Card(parts).phrase == "Jobs of {it} are ended after 1 h; submissions of {it} are refused"


def test_many_that_are_hit_alike_are_one_line_and_a_card_each() -> None:
    lines = arranged([of(*map(gone, "abcde"))])
    assert [line.told for line in lines.opened] == ["Submissions of `a`, `b`, `c` and 2 more are refused"]
    assert len(lines.cards) == 5
    unnamed = [replace(gone(name), who="Somebody", does="is refused") for name in "ab"]
    assert len(opened(*unnamed)) == 2, "nothing tells them apart in one line"


def test_what_is_the_same_in_all_stacks_is_told_once() -> None:
    dev, prod, test = Review("dev", (gone("a"),)), of(gone("a"), gone("b")), Review("test", (gone("a"),))
    assert [line.told for line in arranged([dev, prod, test]).opened] == [
        "Submissions of `a` are refused",
        "`prod`: Submissions of `b` are refused",
    ]


def test_stacks_that_are_hit_alike_by_other_jobs_have_a_line_and_a_card_each() -> None:
    """A comment had the jobs of the first stack for all."""
    dev, prod = (replace(SLOWER, details=(f"`{name}` (ada)",)) for name in ("digits", "lora-27b"))
    lines = arranged([Review("dev", (dev,)), of(prod)])
    assert [line.told for line in lines.opened] == ["Jobs of `lora` are ended after 1 h"]
    assert [(card.stacks, card.lead.details) for card in lines.cards] == [
        (("dev",), ("`digits` (ada)",)),
        (("prod",), ("`lora-27b` (ada)",)),
    ]


def test_a_headline_tells_of_one_stack_or_of_all() -> None:
    dev, prod = Review("dev", (gone("a"),)), of(replace(gone("b"), does="are refused from now on"))
    assert headline([dev, prod]) == "⛔ dev: Submissions of `a` are refused · 1 more to approve"


def test_the_worst_come_first_and_no_more_than_a_screen_is_open() -> None:
    grave = [replace(gone(f"t{n}"), does=f"are refused for {n}") for n in range(9)]
    rule = consequence("policy-weaker", Subject("policy", "regions"), "only warns", who="A rule", grade=Grade.NOTE)
    lines = arranged([of(SLOWER, *grave, rule)])
    assert [line.card.lead for line in lines.opened] == grave[:MOST_OPEN]
    assert [line.card.lead for line in lines.folded] == [*grave[MOST_OPEN:], SLOWER, rule]


def test_money_stands_in_the_table_unless_it_is_all_there_is() -> None:
    costs = consequence("idle-cost", Subject("stack"), "it costs more", who="", grade=Grade.WARNING)
    made = consequence("cluster-created", Subject("cluster", "cpu"), "is made")
    assert opened(made, costs) == ["it costs more", "`cpu` is made"]
    assert opened(SLOWER, made, costs) == ["Jobs of `lora` are ended after 1 h"]
    assert headline([of(SLOWER, made, costs)]) == "⚠ prod: Jobs of `lora` are ended after 1 h", "the dollars say it"


def test_dollars_are_those_of_the_stack_that_the_headline_tells_of() -> None:
    rise = consequence("idle-cost", Subject("stack"), "costs $730 more with nothing running", who="The stack")

    def costs(stack: str, idle: float, *parts: Consequence, grade: Grade = Grade.NOTE) -> Review:
        return Review(stack, (*parts, replace(rise, cost=idle, grade=grade)))

    of_two = headline([costs("dev", 1), costs("prod", 2, gone("a"))])
    assert of_two == "⛔ prod: Submissions of `a` are refused · +$1.5k a month"
    assert headline([costs("dev", 1, gone("a")), costs("prod", 2, gone("a"))]).endswith(" · +$2.2k a month")
    told = headline([costs("prod", 1, grade=Grade.BLOCKING)])
    assert told == "⛔ prod: The stack costs $730 more with nothing running", "once"
    both = headline([costs("prod", 1, gone("a"), grade=Grade.BLOCKING)])
    assert both == "⛔ prod: Submissions of `a` are refused · The stack costs $730 more with nothing running"


def test_a_headline_tells_the_worst_and_counts_what_has_no_room() -> None:
    differing = [replace(gone(f"t{n}"), does=f"are refused for {n}") for n in range(4)]
    assert headline([of(*differing, SLOWER)]) == (
        "⛔ prod: Submissions of `t0` are refused for 0 · Submissions of `t1` are refused for 1 · 2 more to approve"
    )
    long_named = [replace(gone(f"{'t' * 50}{n}"), does=f"go {n}") for n in range(4)]
    assert headline([of(*long_named)]).endswith(" · 3 more to approve")
    long = replace(gone("a"), does="are refused " + "for a long reason " * 5)
    wider = [
        consequence("bounds-widened", Subject("template", name), f"may have `{n}`") for name in "abc" for n in "mn"
    ]
    assert headline([of(*wider)]) == "• prod: `a` may have `m` · `b` may have `m` · 4 more changes"
    assert headline([of(long, SLOWER)]) == f"⛔ prod: {long.phrase.replace('{it}', '`a`')}"


@pytest.mark.parametrize(
    ("amount", "words"), [(12, "+$12"), (-1_712.43, "−$1.7k"), (885_996, "+$886k"), (1_250_000, "+$1.2M")]
)
def test_amounts_are_short(amount: float, words: str) -> None:
    assert brief(Decimal(str(amount))) == words
