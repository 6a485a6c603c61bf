"""The comment of a pull request: one headline, one table, and only what changes. # N5 # D7"""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError
from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.model.findings.finding import Finding, Grade, Section, Subject
from slipway.model.findings.markdown import code, text
from slipway.reviewing.review import Review, beside, planned, read, review, write
from slipway.reviewing.told.comment import LIMIT, MARKER, comment
from slipway.reviewing.told.headline import plain_text
from slipway.reviewing.told.redaction import redacted
from tests.slipway.reviewing.builders import H100, change, cluster, facts, job, kept, living, offer, pool, template

OLD, NEW = (cluster("h100", pool("h100", H100, 1, high)) for high in (4, 6))
JOBS = (job(on=OLD, machine=H100), job("gemma2-lora-9d", on=OLD, user="ci", minutes=8, machine=H100))
LIVING = (living(cluster()), living(OLD, used=2))
ROLLS = review(change(facts(cluster(), OLD), facts(cluster(), NEW, kept(OLD, *JOBS)), clusters=LIVING, jobs=JOBS))
SAME = facts(cluster(), template())
QUIET = replace(review(change(SAME, SAME, clusters=[living(cluster())])), stack="dev")


def seen(markdown: str) -> str:
    """What a person sees before unfolding anything."""
    return markdown.partition("<details>")[0]


def consequence(sentence: str = "`x` goes", grade: Grade = Grade.BLOCKING, **fields: object) -> Finding:
    usual = {"section": Section.CLUSTERS, "kind": "cluster-deleted", "subject": "cluster x"}
    given = {**usual, "grade": grade, "sentence": sentence, **fields}
    return Finding(**{**given, "subject": Subject.read(str(given["subject"]))})  # type: ignore[arg-type]


def test_the_headline_has_the_worst_the_jobs_and_the_money(snapshot: SnapshotAssertion) -> None:
    first = comment([QUIET, ROLLS]).splitlines()[1]
    assert first == snapshot


def test_the_headline_has_the_clause_of_a_finding_else_all_of_its_sentence() -> None:
    whole = "`dask-digits`: parameter `trees`: default 200 → 300"
    split = consequence("`h100` becomes a new generation: `max` 4 → 6", clause="`h100` becomes a new generation")
    for one, told in (
        (consequence(whole), whole),
        (split, split.clause),
        (read(write(plain(split)), "x"), split.clause),
    ):
        first = comment([one if isinstance(one, Review) else plain(one)]).splitlines()[1]
        assert first == f"### ⛔ dev: {text(told)}"


def plain(one: Finding) -> Review:
    return replace(QUIET, consequences=(one,), money=None, quota="")


def test_the_headline_is_of_this_change_and_else_says_whose_it_is(snapshot: SnapshotAssertion) -> None:
    main = consequence("`h100` goes", subject="cluster h100")
    mine = consequence("`x` can be submitted", Grade.NOTE, subject="template x", kind="template-added")
    both = replace(QUIET, consequences=(main, mine), on_main=frozenset({main.key}))
    assert comment([both]).splitlines()[1] == snapshot
    main_alone = replace(QUIET, stack="prod", consequences=(main,), on_main=frozenset({main.key}))
    assert comment([both, main_alone]).splitlines()[1] == snapshot
    first = comment([main_alone]).splitlines()[1]
    assert first == snapshot


def test_what_the_headline_leaves_out_is_counted_by_its_grade(snapshot: SnapshotAssertion) -> None:
    goes = [consequence(f"`x{n}` goes", subject=f"cluster x{n}") for n in range(4)]
    costs = [replace(one, sentence=f"{one.sentence} too", grade=Grade.WARNING, kind="x") for one in goes]
    of_goes, of_costs = (
        comment([replace(QUIET, consequences=tuple(some))]).splitlines()[1] for some in (goes + costs, costs)
    )
    assert of_goes == snapshot
    assert of_costs == snapshot


def test_the_worst_is_first_on_a_terminal_too(snapshot: SnapshotAssertion) -> None:
    people = consequence("`bob` can't submit any more", section=Section.PEOPLE)
    grows = consequence("`x` grows", Grade.NOTE, subject="cluster y")
    found = replace(QUIET, consequences=(grows, people))
    assert plain_text(found).splitlines()[1:] == snapshot
    assert "`x` grows" not in seen(comment([found]))


def test_a_row_for_each_stack_and_only_changes_below(snapshot: SnapshotAssertion) -> None:
    told = comment([QUIET, ROLLS])
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    assert rows[1] == snapshot
    assert rows[2] == snapshot
    assert "`dev`:" not in told


def test_what_is_only_for_knowing_is_folded() -> None:
    told = comment([ROLLS])
    assert "start slower" not in seen(told)
    assert "start slower" in told
    assert "`gemma2-lora-9d` (ci, running 8 min)" in told


def test_nothing_changes() -> None:
    told = comment([QUIET])
    assert told.startswith(f"{MARKER}\n### ✓ nothing changes in ")
    assert "|" not in told


def test_what_could_not_be_compared_is_below_what_could(snapshot: SnapshotAssertion) -> None:
    why = "deletions were not computed: the preview failed"
    for one in (QUIET, ROLLS):
        told = seen(comment([replace(one, incomplete=(why,))]))
        assert told.splitlines()[1] == snapshot
        assert f"> **Incomplete:** {why}" in told


def test_the_gravest_fit_one_screen() -> None:
    many = tuple(consequence(f"`x{n}` goes", subject=f"cluster x{n}") for n in range(200))
    told = seen(comment([replace(QUIET, consequences=many)]))
    assert len(told.splitlines()) < 30
    assert "12 more" not in told


def test_what_is_grave_is_never_called_for_knowing_nor_left_out_first() -> None:
    many = [consequence(f"`x{n}` goes", subject=f"cluster x{n}", details=("why " * 90,) * 9) for n in range(12)]
    notes = [consequence(f"`y{n}` comes", Grade.NOTE, kind=f"made-{n}", subject=f"cluster y{n}") for n in range(9)]
    differing = tuple(replace(one, kind=f"goes-{n}") for n, one in enumerate(many))
    told = comment([replace(QUIET, consequences=(*differing, *notes))])
    assert "5 more · 9 more" in told
    long = tuple(replace(one, details=("why " * 2000,) * 100) for one in differing)
    cut = comment([replace(QUIET, consequences=(*long, *notes), plan=("create " * 900,) * 99)])
    assert len(cut) <= LIMIT and all(f"`x{n}` goes" in cut for n in range(12))


def test_what_no_form_holds_is_a_headline() -> None:
    unread = tuple(f"{n} {'could not be read ' * 40}" for n in range(300))
    told = comment([replace(QUIET, stack="s" * 70_000, incomplete=unread)])
    assert len(told) <= LIMIT and "Too much for a comment" in told


@pytest.mark.parametrize("count", [10, 1000, 5000])
def test_never_longer_than_a_comment_may_be(count: int) -> None:
    details = tuple(f"`job-{n}` (somebody, running 3 h)" for n in range(count))
    steps = tuple(f"create gcp:storage/bucketObject:BucketObject package-{n}" for n in range(count))
    some = tuple(
        consequence(f"`x{n}` goes", subject=f"cluster x{n}", details=tuple(f"{n} {one}" for one in details))
        for n in range(8)
    )
    told = comment([replace(QUIET, consequences=some, plan=steps)])
    assert len(told) <= LIMIT
    assert ("too long" in told) is (count > 1000 or len(steps) * 60 > LIMIT)


def test_a_document_and_back() -> None:
    assert read(write(ROLLS), "x") == ROLLS
    with pytest.raises(ConfigError, match="not a review"):
        read({"kind": "jobs"}, "x")
    with pytest.raises(ConfigError, match="not a whole review"):
        read({"kind": "review", "schema": 1}, "x")
    whole = write(ROLLS)
    for key in whole.keys() - {"addresses", "quoted"}:  # Newer than the others: without addresses more is hidden.
        with pytest.raises(ConfigError):
            read({name: value for name, value in whole.items() if name != key}, "x")


def test_what_main_has_already_is_marked_and_not_yours() -> None:
    main = replace(QUIET, stack="prod", consequences=ROLLS.consequences[:1])
    both = beside(ROLLS, main)
    assert ROLLS.consequences[0] not in both.yours
    assert len(both.yours) == len(ROLLS.consequences) - 1
    assert comment([both]).count("on main already") == 1


@pytest.mark.parametrize(
    ("main", "mine"),
    [
        (consequence(grade=Grade.WARNING), consequence()),
        (consequence("`x`: image `a` → `b`"), consequence("`x`: image `a` → `evil`")),
        (
            consequence("runs as `owner`", details=("`owner@acme-ml`",)),
            consequence("runs as `owner`", details=("`owner@evil`",)),
        ),
    ],
    ids=["worse", "otherwise", "otherwise in what the sentence leaves out"],
)
def test_what_is_not_as_on_main_is_yours(main: Finding, mine: Finding) -> None:
    assert beside(Review("prod", (mine,)), Review("prod", (main,))).yours == (mine,)


@pytest.mark.parametrize("name", ["lora", "gemma2-lora-and-a-long-name"])
def test_the_headline_says_what_happens_to_what_is_named_first(name: str) -> None:
    changed = replace(QUIET, consequences=(consequence(f"`{name}`: timeout: 1 h → 9 h"),))
    assert f"`{name}`: timeout" in comment([changed]).splitlines()[1]


def test_a_name_of_many_lines_is_one_step_of_the_plan() -> None:
    named = EngineStep("create", "urn", "x:y:Z", f"a\n{MARKER}\n" + "n" * 1_000_000)
    (line,) = planned(Preview((named,)))
    assert line.startswith("create x:y:Z a <!--")
    assert len(line) < 400


def test_addresses_are_hidden_where_told_and_accounts_are_not() -> None:
    one = consequence(
        "`ada.l@acme.example` and `trainer@p.iam.gserviceaccount.com`", details=("user:bob@acme.example",)
    )
    (hidden,) = redacted(Review("prod", (one,))).consequences
    assert hidden.sentence == "`a…@acme.example` and `trainer@p.iam.gserviceaccount.com`"
    assert hidden.details == ("user:b…@acme.example",)


def test_an_address_that_the_change_s_own_diff_shows_is_not_hidden() -> None:
    of = Review("prod", (consequence("`ada@acme.example` and `abe@acme.example`"),), addresses=("ada@acme.example",))
    (one,) = redacted(of).consequences
    assert one.sentence == "`ada@acme.example` and `a…@acme.example`"
    assert "abe@acme.example" not in json.dumps(write(redacted(of)))


def test_of_people_who_are_told_apart_no_more_all_are_on_main_or_none() -> None:
    ada, abe, bob = (consequence(subject=f"member user:{name}@acme.example") for name in ("ada", "abe", "bob"))
    hidden = redacted(Review("prod", (ada, abe, bob), on_main=frozenset({ada.key, bob.key})))
    assert [one.subject for one in hidden.yours] == ["member user:a…@acme.example"] * 2
    assert "ada@acme.example" not in json.dumps(write(hidden))


HOSTILE = [
    "`x` @ada <img src=x onerror=alert(1)> [a](http://evil.example) #12 | --> *b* _c_",
    "a`b`c`",
    "line\n# heading",
    "| cell |",
    "`a|![x](https://evil.example/p.png)`",
]


@pytest.mark.parametrize("sentence", HOSTILE)
def test_text_from_elsewhere_is_only_shown(sentence: str) -> None:
    told = text(sentence)
    for active in ("<img", "](", "\n", "-->", "@ada", " #1", "http:", "| "):
        assert active not in told


@given(st.text(max_size=60))
def test_no_text_ends_a_line_a_cell_or_a_tag(sentence: str) -> None:
    for told in (text(sentence), code(sentence)):
        assert "\n" not in told
        assert "|" not in told
        assert "<!--" not in told.replace("`", "") or "`" in told
    assert "](" not in text(sentence.replace("`", ""))


def test_for_a_terminal(snapshot: SnapshotAssertion) -> None:
    told = plain_text(ROLLS)
    assert told.splitlines()[0] == snapshot
    assert "`" not in told
    assert "tune-27b-x1" in told


def test_a_template_without_offers() -> None:
    before = facts(cluster(), OLD, template("lora", offer(cluster="h100", pools=("h100",))))
    unavailable = offer(cluster="", pools=(), available=False, why="no pool", capacity_type="spot")
    after = facts(cluster(), template("lora", unavailable))
    told = comment([review(change(before, after, clusters=LIVING, jobs=JOBS))])
    assert told.splitlines()[1].startswith("### ⛔ prod: ")
    assert "no offer" in seen(told) or "can't run" in seen(told)
