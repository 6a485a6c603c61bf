"""Cards of a review and the lines that stand open for them: one for each thing that is hit. # N5 # N8"""

from dataclasses import replace

from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.review import Review
from slipway.reviewing.told.cards import LONGEST, Card, arranged
from slipway.reviewing.told.headline import addresses, headline

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
