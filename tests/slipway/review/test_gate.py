"""The gate: what needs an approval, and whether what was approved still holds. # N14"""

from dataclasses import replace
from decimal import Decimal

from syrupy.assertion import SnapshotAssertion

from slipway.findings.finding import Finding, Grade, Section, Subject
from slipway.prices import Price
from slipway.review.gate import unannounced, unapproved, worse
from slipway.review.money import Amount, Money
from slipway.review.rendering.redaction import redacted
from slipway.review.review import Review


def one(kind: str = "cluster-deleted", subject: str = "cluster x", grade: Grade = Grade.BLOCKING) -> Finding:
    return Finding(Section.CLUSTERS, kind, Subject.read(subject), grade, f"`{subject}` {kind}")


def costs(idle: str, most: str) -> Money:
    was = Price(Decimal(1))
    return Money(Amount(was, Price(Decimal(idle))), Amount(was, Price(Decimal(most))), Price())


DELETES = Review("prod", (one(),), money=costs("1", "2"))


def test_blocking_consequences_ask_for_an_approval_and_others_do_not() -> None:
    told = Review("prod", (one(), one("cluster-created", "cluster y", Grade.NOTE), one("drift", "z", Grade.WARNING)))
    assert [(shut.kind, shut.subject) for shut in unapproved([told])] == [("cluster-deleted", "cluster x")]


def test_what_is_on_main_already_was_approved_there() -> None:
    assert not list(unapproved([replace(DELETES, on_main=frozenset({one().key}))]))


def test_what_nobody_could_tell_needs_an_approval() -> None:
    assert [shut.sentence for shut in unapproved([Review("prod", incomplete=("jobs can't be read",))])] == [
        "Incomplete: jobs can't be read"
    ]


def test_the_same_again_is_not_worse() -> None:
    assert not list(worse([DELETES], [DELETES]))


def test_a_new_subject_of_a_blocking_grade_is_worse() -> None:
    more = replace(DELETES, consequences=(*DELETES.consequences, one(subject="cluster y")))
    assert [(shut.kind, shut.subject) for shut in worse([more], [DELETES])] == [("cluster-deleted", "cluster y")]


def test_a_new_subject_that_blocks_nothing_is_not_worse() -> None:
    more = replace(DELETES, consequences=(*DELETES.consequences, one("drift", "cluster y", Grade.WARNING)))
    assert not list(worse([more], [DELETES]))


def test_a_higher_grade_is_worse_and_a_lower_one_is_not() -> None:
    milder = replace(DELETES, consequences=(one(grade=Grade.WARNING),))
    (shut,) = worse([DELETES], [milder])
    assert shut.sentence.endswith("(approved as warning only)")
    assert not list(worse([milder], [DELETES]))


def test_money_beyond_the_tolerance_is_worse(snapshot: SnapshotAssertion) -> None:
    dearer = replace(DELETES, money=costs("2.5", "2"))
    (shut,) = worse([dearer], [DELETES])
    assert shut.sentence == snapshot
    assert not list(worse([dearer], [DELETES], tolerance=Decimal("1.5")))


def test_a_stack_that_nobody_reviewed_is_held_to_what_it_was() -> None:
    assert [shut.kind for shut in worse([DELETES], [])] == ["cluster-deleted"]
    assert len(list(worse([replace(DELETES, consequences=(), money=costs("5", "9"))], []))) == 2


def test_less_known_than_when_it_was_approved_is_worse() -> None:
    blind = replace(DELETES, incomplete=("jobs can't be read",))
    assert [shut.sentence for shut in worse([blind], [DELETES])] == ["Incomplete: jobs can't be read"]
    assert not list(worse([blind], [blind]))


def test_what_was_approved_with_hidden_addresses_is_approved_for_as_many_people() -> None:
    goes = [one("submitter-gone", f"member user:{name}@acme.example") for name in ("ada", "alice", "anna", "bob")]
    asked = redacted(Review("prod", tuple(goes[:2])))
    assert not list(worse([Review("prod", tuple(goes[:2]))], [asked]))
    found = [shut.subject for shut in worse([Review("prod", tuple(goes))], [asked])]
    assert found == ["member user:anna@acme.example", "member user:bob@acme.example"]


def test_a_person_whom_the_comment_named_is_approved_by_name_and_others_by_number() -> None:
    goes = [one("submitter-gone", f"member user:{name}@acme.example") for name in ("ada", "alice", "anna")]
    asked = redacted(Review("prod", tuple(goes[:2]), addresses=("ada@acme.example",)))
    assert not list(worse([Review("prod", tuple(goes[:2]))], [asked]))
    assert not list(worse([Review("prod", (goes[0], goes[2]))], [asked])), "as before: one whose name begins alike"
    assert [shut.subject for shut in worse([Review("prod", tuple(goes))], [asked])] == [goes[2].subject]
    assert [shut.subject for shut in worse([Review("prod", tuple(goes[1:]))], [asked])] == [goes[2].subject]


def test_a_scheduled_deployment_goes_on_with_what_was_begun_and_with_no_more() -> None:  # N1, N2
    """The same commit: its edits, and what it takes from the cluster that is being replaced in place already."""
    edits = (
        one("cluster-new-generation", "cluster cpu", Grade.WARNING),
        one("default-changed", "template nap", Grade.WARNING),
        one("cluster-in-place", "cluster cpu"),
        one("pool-gone", "pool cpu/all"),
    )
    others = (
        one("drift", "bucket b", Grade.WARNING),
        one("jobs-cancelled", "cluster cpu"),
        one("cluster-retires", "cluster gpu"),
        one("template-gone", "template cpu"),
    )
    told = Review("prod", (*edits, *others), incomplete=("jobs can't be read",), begun=frozenset({"cpu"}))
    assert [shut.kind for shut in unannounced([told])] == ["", *(other.kind for other in others)]
    stock_out = replace(told, consequences=edits, incomplete=(), begun=frozenset())
    assert [shut.kind for shut in unannounced([stock_out])] == ["cluster-in-place", "pool-gone"]
    assert len(list(unannounced([replace(stock_out, begun=None)]))) == len(edits)
