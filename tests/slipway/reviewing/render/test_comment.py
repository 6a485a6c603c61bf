"""The comment of a pull request: one headline, one table, and only what changes. # N5 # D7"""

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError
from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.markdown import code, text
from slipway.model.prices import Price
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.review import Review, beside, planned, read, review, write
from slipway.reviewing.rules.money import Amount, Money
from slipway.reviewing.render.comment import LIMIT, MARKER, comment
from slipway.reviewing.render.headline import plain_text
from slipway.reviewing.render.redaction import redacted
from tests.slipway.reviewing.builders import H100, change, cluster, facts, job, kept, living, pool, template

OLD, NEW = (cluster("h100", pool("h100", H100, 1, high)) for high in (4, 6))
JOBS = (job(on=OLD, machine=H100), job("gemma2-lora-9d", on=OLD, user="ci", minutes=8, machine=H100))
LIVING = (living(cluster()), living(OLD, used=2))
ROLLS = review(change(facts(cluster(), OLD), facts(cluster(), NEW, kept(OLD, *JOBS)), clusters=LIVING, jobs=JOBS))
SAME = facts(cluster(), template())
QUIET = replace(review(change(SAME, SAME, clusters=[living(cluster())])), stack="dev")


def seen(markdown: str) -> str:
    """What a person sees before unfolding anything."""
    return markdown.partition("<details>")[0]


def goes(name: str = "x", **fields: Any) -> Consequence:
    return replace(consequence("cluster-deleted", Subject("cluster", name), "goes"), **fields)


def test_nothing_changes() -> None:
    told = comment([QUIET])
    assert told.startswith(f"{MARKER}\n### ✓ nothing changes for jobs, money or access in ")
    assert "|" not in told


def test_the_table_is_folded_where_it_has_no_news() -> None:
    told = comment([replace(QUIET, consequences=(goes(details=("why",)),))])
    assert "| stack |" in told and "| stack |" not in seen(told)
    # Beside another stack, or where nothing is folded, it stands open.
    assert "| stack |" in seen(comment([QUIET, replace(QUIET, consequences=(goes(details=("why",)),))]))
    assert "| stack |" in seen(comment([replace(QUIET, consequences=(goes(),))]))
    assert "| stack |" in seen(comment([ROLLS]))


def test_the_table_names_a_limit_that_has_no_column_of_its_own() -> None:
    limit = consequence(
        "budget-changed", Subject("budget", "teams.vision"), "may spend $275 a month", who="Team vision"
    )
    assert "| dev | money |" in comment([replace(QUIET, consequences=(limit,))])
    cost = consequence("idle-cost", Subject("stack"), "costs $730 more with nothing running", who="The stack")
    assert "| dev | – |" in comment([replace(QUIET, consequences=(cost,))])


def test_the_first_line_goes_on_from_the_title() -> None:
    some = (goes("x", so="it is empty", details=("why",)), goes("y", does="goes too", so="it is full"))
    milder = (some[0], replace(some[1], grade=Grade.WARNING))
    assert seen(comment([replace(QUIET, consequences=milder)])).splitlines()[3:5] == [
        "- ⛔ it is empty",
        "- ⚠ `y` goes too: it is full",
    ]
    # Of a title of two things each line names its own.
    both = seen(comment([replace(QUIET, consequences=some)]))
    assert both.splitlines()[1:] == [
        "### ⛔ dev: `x` goes · `y` goes too",
        "",
        "- ⛔ it is empty (`x`)",
        "- ⛔ it is full (`y`)",
        "",
    ]


def test_the_first_line_has_the_sign_of_what_it_tells() -> None:
    milder = replace(goes("x", does="is read"), grade=Grade.WARNING)
    assert "\n- ⚠ it is read\n" in seen(comment([replace(QUIET, consequences=(goes("x"), milder))]))
    # The key is that of what the line tells as well.
    keyed = [replace(goes("x"), field="slipway:x"), replace(milder, field="slipway:y")]
    assert "it is read (`slipway:y`)\n" in comment([replace(QUIET, consequences=tuple(keyed))])
    # Each part of a template's line has the key that it comes of.
    alone = consequence("machines-changed", Subject("template", "x"), "run on a", who="Jobs of {it}", so="why")
    jobs = (replace(alone, field="slipway:a"), replace(alone, does="run on b", field="slipway:b"))
    assert "\n- ⚠ why; they run on b (`slipway:a, slipway:b`)\n" in comment([replace(QUIET, consequences=jobs)])
    # What a title says alone has no line but for its key.
    assert "- ⛔" not in comment([replace(QUIET, consequences=(goes(),))])
    assert "- ⛔ caused by `slipway:x`\n" in comment(
        [replace(QUIET, consequences=(replace(goes(), field="slipway:x"),))]
    )


def test_what_could_not_be_compared_is_below_what_could(snapshot: SnapshotAssertion) -> None:
    why = "deletions were not computed: the preview failed"
    for case in (QUIET, ROLLS):
        told = seen(comment([replace(case, incomplete=(why,))]))
        assert told.splitlines()[1] == snapshot
        assert f"> **Incomplete:** {why}" in told


def test_what_is_grave_is_never_called_for_knowing_nor_left_out_first() -> None:
    many = [goes(f"x{n}", does=f"goes for {n}", details=("why " * 90,) * 9) for n in range(12)]
    notes = [goes(f"y{n}", grade=Grade.NOTE, does=f"comes for {n}") for n in range(9)]
    told = comment([replace(QUIET, consequences=(*many, *notes))])
    assert "5 more to look at · 9 more for information" in told
    text = plain_text(replace(QUIET, consequences=(*many, *notes)), cards=False)
    assert "⛔" in text.partition("more to look at")[2] and "⛔" not in text.partition("for information")[2]
    long = tuple(replace(part, details=("why " * 2000,) * 100) for part in many)
    cut = comment([replace(QUIET, consequences=(*long, *notes), plan=("create " * 900,) * 99)])
    assert len(cut) <= LIMIT and all(f"goes for {n}" in cut for n in range(12))


def test_what_no_form_holds_is_a_headline() -> None:
    unread = tuple(f"{n} {'could not be read ' * 40}" for n in range(300))
    told = comment([replace(QUIET, stack="s" * 70_000, incomplete=unread)])
    assert len(told) <= LIMIT and "Too much for a comment" in told


def test_a_name_of_any_length_hides_no_other_line() -> None:
    some = (goes("x" * 70_000), *(goes(f"y{n}") for n in range(3)))
    told = comment([replace(QUIET, consequences=some)])
    assert len(told) <= LIMIT and all(f"`y{n}`" in seen(told) for n in range(3))


@pytest.mark.parametrize("count", [10, 1000, 5000])
def test_never_longer_than_a_comment_may_be(count: int) -> None:
    details = tuple(f"`job-{n}` (somebody, running 3 h)" for n in range(count))
    steps = tuple(f"create gcp:storage/bucketObject:BucketObject package-{n}" for n in range(count))
    some = tuple(
        goes(f"x{n}", does=f"goes for {n}", details=tuple(f"{n} {detail}" for detail in details)) for n in range(8)
    )
    told = comment([replace(QUIET, consequences=some, plan=steps)])
    assert len(told) <= LIMIT
    assert ("too long" in told) is (count >= 1000)


def test_a_document_and_back() -> None:
    assert read(write(ROLLS), "x") == ROLLS
    with pytest.raises(ConfigError, match="not a review"):
        read({"kind": "jobs"}, "x")
    with pytest.raises(ConfigError, match="not a whole review"):
        read({"kind": "review", "schema": 2}, "x")
    whole = write(ROLLS)
    # These are newer than the others: without addresses more is hidden.
    for key in whole.keys() - {"addresses", "quoted", "undeployed"}:
        with pytest.raises(ConfigError):
            read({name: value for name, value in whole.items() if name != key}, "x")


def test_what_main_has_already_is_marked_and_not_yours() -> None:
    main = replace(QUIET, stack="prod", consequences=ROLLS.consequences[:1])
    both = beside(ROLLS, main)
    assert ROLLS.consequences[0] not in both.yours
    assert len(both.yours) == len(ROLLS.consequences) - 1
    assert comment([both]).count("not caused by this change") == 1
    assert "not caused by this change" not in seen(comment([both]))
    # A fate that nobody edited stays main's where this change edits a template, whose jobs it tells of.
    made = goes(grade=Grade.WARNING, details=("jobs of `lora` cost $1/h",))
    other, edited = replace(made, details=("jobs of `lora` cost $2/h",)), replace(made, edits=(Edit("a", "1", "2"),))
    alone = [replace(QUIET, consequences=(part,)) for part in (made, other, edited)]
    assert made.of.becomes and not beside(alone[1], alone[0]).yours and beside(alone[2], alone[0]).yours
    # Main may be deployed: a cluster becomes idle, or a date passes.
    assert "not caused by this change: " in comment([beside(ROLLS, ROLLS)]).splitlines()[1]


@pytest.mark.parametrize(
    ("main", "mine"),
    [
        (goes(grade=Grade.WARNING), goes()),
        (goes(does="runs `a`"), goes(does="runs `evil`")),
        (goes(details=("`owner@acme-ml`",)), goes(details=("`owner@evil`",))),
        (goes(edits=(Edit("image", "a", "b"),)), goes(edits=(Edit("image", "a", "evil"),))),
    ],
    ids=["worse", "otherwise", "otherwise in its details", "otherwise in its edits"],
)
def test_what_is_not_as_on_main_is_yours(main: Consequence, mine: Consequence) -> None:
    assert beside(Review("prod", (mine,)), Review("prod", (main,))).yours == (mine,)


def test_of_things_whose_names_are_hidden_none_is_on_main_unless_all_are() -> None:
    known, new = goes(does="runs `(hidden)`"), goes(does="runs `(hidden)` as root")
    assert beside(Review("prod", (known, new)), Review("prod", (known,))).yours == (known, new)


def test_a_name_of_many_lines_is_one_step_of_the_plan() -> None:
    named = EngineStep("create", "urn", "x:y:Z", f"a\n{MARKER}\n" + "n" * 1_000_000)
    (line,) = planned(Preview((named,)))
    assert line.startswith("create x:y:Z a <!--")
    assert len(line) < 400


def test_addresses_are_hidden_where_told_and_accounts_are_not() -> None:
    account = "trainer@p.iam.gserviceaccount.com"
    part = goes(does=f"is told to `ada.l@acme.example` and `{account}`", details=("user:bob@acme.example",))
    edit = Edit("members:bob@acme.example", "bob@acme.example", "")
    (hidden,) = redacted(Review("prod", (replace(part, edits=(edit,), field=edit.key),))).consequences
    assert hidden.does == f"is told to `a…@acme.example` and `{account}`"
    assert hidden.field == hidden.edits[0].key == "members:b…@acme.example"
    assert (hidden.details, hidden.edits[0].before) == (("user:b…@acme.example",), "b…@acme.example")


def test_an_address_that_the_change_s_own_diff_shows_is_not_hidden() -> None:
    part = goes(so="`ada@acme.example` and `abe@acme.example`")
    of = redacted(Review("prod", (part,), addresses=("ada@acme.example",)))
    assert of.consequences[0].so == "`ada@acme.example` and `a…@acme.example`"
    assert "abe@acme.example" not in json.dumps(write(of))


def test_of_people_who_are_told_apart_no_more_all_are_on_main_or_none() -> None:
    ada, abe, bob = (goes(subject=Subject("member", f"user:{name}@acme.example")) for name in ("ada", "abe", "bob"))
    hidden = redacted(Review("prod", (ada, abe, bob), on_main=frozenset({ada.key, bob.key})))
    assert [part.subject for part in hidden.yours] == ["member user:a…@acme.example"] * 2
    assert "ada@acme.example" not in json.dumps(write(hidden))


HOSTILE = [
    "`x` @ada <img src=x onerror=alert(1)> [a](http://evil.example) #12 | --> *b* _c_",
    "a`b`c`",
    "line\n# heading",
    "| cell |",
    "`a|![x](https://evil.example/p.png)`",
    "#1ftp://evil.example/ 1www.evil.example",
    "task.py:100:2 of a:tada:b is \ud83d",
]


@pytest.mark.parametrize("sentence", HOSTILE)
def test_text_from_elsewhere_is_only_shown(sentence: str) -> None:
    told = text(sentence)
    for active in ("<img", "](", "\n", "-->", "@ada", " #1", "http://", "https://", "ftp://", "www.", "| "):
        assert active not in told
    assert ":100:" not in told and ":tada:" not in told, "GitHub shows pictures for them"
    assert told.encode(), "half a character can't be sent"
    assert text("gs://bucket/model") == "gs://bucket/model", "GitHub makes no link of it"


def test_the_summary_of_a_fold_is_no_markdown_and_only_shown() -> None:
    """GitHub reads it as HTML, in which backticks make no code."""
    told = comment([replace(QUIET, stack="`<img src=x>`", plan=("create x",), quoted=("why",))])
    summaries = [line for line in told.splitlines() if "<summary>" in line]
    assert len(summaries) == 2 and not any("<img" in line for line in summaries)
    assert text("12:10:30") == "12:10:30"


def test_backticks_around_nothing_pair_with_no_others() -> None:
    assert text("a ` ``@ada <b>`") == "a `@ada <b>`"
    assert text(str(Edit("args", "", "echo `date`"))) == "`args` none → `echo 'date'`"


@given(st.text(max_size=60))
def test_no_text_ends_a_line_a_cell_or_a_tag(sentence: str) -> None:
    for told in (text(sentence), code(sentence)):
        assert "\n" not in told
        assert "|" not in told
        assert "<!--" not in told.replace("`", "") or "`" in told
    assert "](" not in text(sentence.replace("`", ""))


@pytest.mark.parametrize("unpriced", [{"more": True}, {"fewer": True}])
def test_machines_without_a_price_are_no_cost_that_stays(unpriced: dict[str, bool]) -> None:
    part = Price(Decimal(100), complete=False)
    stays = Money(Amount(part, part), Amount(part, part), Price())
    moves = Money(Amount(part, part, **unpriced), Amount(part, part, **unpriced), Price())
    comments = (comment([Review("prod", (goes(),), money=each)]) for each in (moves, stays))
    told, of_same = (re.search(r"^\| prod \|.*$", each, re.MULTILINE) for each in comments)
    assert told and of_same and "→" in told[0] and "→" not in of_same[0]
