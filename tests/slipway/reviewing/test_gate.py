"""The gate: what needs an approval, whether what was approved still holds, and the record that a run keeps. # N14"""

import io
import json
import zipfile
from dataclasses import replace

import pytest

from slipway.answers.cost import Costs
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.gate import (
    Approval,
    Comment,
    MergeResult,
    PullRequest,
    obstacles,
    unannounced,
    unapproved,
    worse,
)
from slipway.reviewing.record import Record, name_of, record_of, unpacked, written_with
from slipway.reviewing.render.comment import mark
from slipway.reviewing.render.redaction import redacted
from slipway.reviewing.review import Review


def one(kind: str = "cluster-deleted", subject: str = "cluster x", grade: Grade = Grade.BLOCKING) -> Finding:
    return KINDS[kind].of(Subject.read(subject), f"has {kind}", grade=grade)


def costs(idle: float, most: float) -> Costs:
    return Costs(idle_before=1, idle=idle, most_before=1, most=most)


DELETES = Review("prod", (one(),), costs=costs(1, 2))


def test_blocking_findings_ask_for_an_approval_and_others_do_not() -> None:
    told = Review("prod", (one(), one("cluster-created", "cluster y", Grade.NOTE), one("drift", "z", Grade.WARNING)))
    assert [(shut.kind, shut.subject) for shut in unapproved([told])] == [("cluster-deleted", "cluster x")]


def test_what_is_on_main_already_was_approved_there() -> None:
    assert not list(unapproved([replace(DELETES, on_main=frozenset({one().key}))]))


def test_what_nobody_could_tell_needs_an_approval() -> None:
    assert [shut.sentence for shut in unapproved([Review("prod", incomplete=("jobs can't be read",))])] == [
        "Incomplete: jobs can't be read"
    ]


MORE, MILDER = one(subject="cluster y"), one(grade=Grade.WARNING)
BLIND = replace(DELETES, incomplete=("jobs can't be read",))


@pytest.mark.parametrize(
    ("now", "approved", "shut"),
    [
        (DELETES, DELETES, []),
        (replace(DELETES, findings=(one(), MORE)), DELETES, [f"cluster y: {MORE.sentence} (not approved)"]),
        (replace(DELETES, findings=(one(), replace(MORE, grade=Grade.WARNING))), DELETES, []),
        (DELETES, replace(DELETES, findings=(MILDER,)), [f"cluster x: {MILDER.sentence} (approved as warning only)"]),
        (replace(DELETES, findings=(MILDER,)), DELETES, []),
        (BLIND, DELETES, ["Incomplete: jobs can't be read"]),
        (BLIND, BLIND, []),
        (DELETES, replace(DELETES, findings=(one("cluster-deleted"),)), []),
        (replace(DELETES, findings=(MILDER,)), replace(DELETES, findings=(one(grade=Grade.NOTE),)), []),
    ],
    ids=[
        "the same",
        "a subject more",
        "one that blocks nothing",
        "graver",
        "milder",
        "less known",
        "as little known",
        "whose jobs have ended",
        "a change that warns",
    ],
)
def test_what_is_worse_than_what_was_approved(now: Review, approved: Review, shut: list[str]) -> None:
    assert [obstacle.sentence for obstacle in worse([now], [approved])] == shut


def test_costs_beyond_the_tolerance_are_worse() -> None:
    dearer = replace(DELETES, costs=costs(2.5, 2))
    (shut,) = worse([dearer], [DELETES])
    assert shut.sentence == "costs $1.50/h more idle than approved: $2.50/h instead of $1.00/h"
    assert not list(worse([replace(DELETES, costs=costs(2, 2))], [DELETES]))


def test_a_stack_that_nobody_reviewed_is_held_to_what_it_was() -> None:
    assert [shut.kind for shut in worse([DELETES], [])] == ["cluster-deleted"]
    assert len(list(worse([replace(DELETES, findings=(), costs=costs(5, 9))], []))) == 2


def test_what_was_approved_with_hidden_addresses_is_approved_for_as_many_people() -> None:
    goes = [one("access-lost", f"member user:{name}@acme.example") for name in ("ada", "alice", "anna", "bob")]
    asked = redacted(Review("prod", tuple(goes[:2])))
    assert not list(worse([Review("prod", tuple(goes[:2]))], [asked]))
    subjects = [shut.subject for shut in worse([Review("prod", tuple(goes))], [asked])]
    assert subjects == ["member user:anna@acme.example", "member user:bob@acme.example"]


def test_a_person_whom_the_comment_named_is_approved_by_name_and_others_by_number() -> None:
    goes = [one("access-lost", f"member user:{name}@acme.example") for name in ("ada", "alice", "anna")]
    asked = redacted(Review("prod", tuple(goes[:2]), addresses=("ada@acme.example",)))
    assert not list(worse([Review("prod", tuple(goes[:2]))], [asked]))
    assert not list(worse([Review("prod", (goes[0], goes[2]))], [asked])), "as before: one whose name begins alike"
    assert [shut.subject for shut in worse([Review("prod", tuple(goes))], [asked])] == [goes[2].subject]
    assert [shut.subject for shut in worse([Review("prod", tuple(goes[1:]))], [asked])] == [goes[2].subject]


def test_a_scheduled_deployment_goes_on_with_what_was_begun_and_with_no_more() -> None:  # N1, N2
    """The same commit: its edits, and what it takes from the cluster that is being replaced in place already."""
    edits = (
        one("cluster-replaced", "cluster cpu", Grade.WARNING),
        one("job-code-changed", "template nap", Grade.WARNING),
        one("job-loses-resource", "cluster cpu"),
        one("capacity-changed", "pool cpu/all"),
    )
    others = (
        one("drift", "bucket b", Grade.WARNING),
        one("jobs-cancelled", "cluster cpu"),
        one("cluster-deleted", "cluster gpu"),
        one("submission-rejected", "template cpu"),
    )
    told = Review("prod", (*edits, *others), incomplete=("jobs can't be read",), begun=frozenset({"cpu"}))
    assert [shut.kind for shut in unannounced([told])] == ["", *(other.kind for other in others)]
    stock_out = replace(told, findings=edits, incomplete=(), begun=frozenset())
    assert [shut.kind for shut in unannounced([stock_out])] == ["job-loses-resource", "capacity-changed"]
    assert len(list(unannounced([replace(stock_out, begun=None)]))) == len(edits), "nothing was begun"


GOES = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "goes", grade=Grade.BLOCKING)
MAY_HURT = replace(GOES, kind="drift", grade=Grade.WARNING)
COSTS = costs(9, 9)
APPROVED = Approval("grace", "tree", "2026-11-21T09:20:00Z")


def merged(*told: Review, approvals: tuple[Approval, ...] = (), merged: bool = True) -> MergeResult:
    comment, record = Comment("1", "", "2026-11-21T09:05:00Z"), record_of(told, "tree")
    return MergeResult("tree", PullRequest("1", 3, "ada", "head", approvals, comment, record), merged)


def stopped(now: Review, result: MergeResult) -> list[str]:
    return [obstacle.kind or obstacle.sentence for obstacle in obstacles([now], result)]


@pytest.mark.parametrize("now", [Review("prod", (GOES,)), Review("prod", incomplete=("jobs can't be read",))])
def test_what_needs_an_approval_needs_one_though_the_record_has_it(now: Review) -> None:
    assert len(stopped(now, merged(now))) == 1
    assert stopped(now, merged(now, approvals=(APPROVED,))) == []


def test_what_needs_none_was_told() -> None:
    """A warning and its money, beside what nobody approved."""
    told = Review("prod", (MAY_HURT,), costs=COSTS)
    assert stopped(told, merged(told)) == []
    assert stopped(replace(told, findings=(GOES, MAY_HURT)), merged(told)) == ["cluster-deleted"]
    assert len(stopped(told, merged())) == 2, "money that no record has"
    graver = replace(told, findings=(replace(MAY_HURT, grade=Grade.BLOCKING),))
    assert stopped(graver, merged(told, approvals=(APPROVED,))) == ["drift"]


def test_before_it_is_merged_an_approval_is_of_all_that_the_comment_tells() -> None:
    now = Review("prod", (GOES,), costs=COSTS)
    assert stopped(now, merged(now, merged=False)) == ["cluster-deleted"]
    assert stopped(now, merged(now, approvals=(APPROVED,), merged=False)) == []
    refused = Review("prod", (GOES, one("deployment-rejected")))
    assert stopped(refused, merged(refused, approvals=(APPROVED,), merged=False)) == ["deployment-rejected"]


@pytest.mark.parametrize(("kind", "shut"), [("policy-violated", ["policy-violated"]), ("quota-short-now", [])])
def test_no_approval_deploys_what_breaks_a_rule_and_quota_may_still_be_granted(kind: str, shut: list[str]) -> None:
    refused = Review("prod", (one(kind),))
    assert stopped(refused, merged(refused, approvals=(APPROVED,), merged=False)) == shut


def test_what_came_without_a_pull_request_may_cost_and_not_block() -> None:
    pushed = MergeResult("tree", None, merged=True)
    assert stopped(Review("prod", (GOES, MAY_HURT), costs=COSTS), pushed) == ["cluster-deleted"]


MINE = record_of([Review("prod", (GOES,), incomplete=("jobs can't be read",), plan=("create x",))], "tree")
BODY = json.dumps(MINE.body)


def packed(name: str, text: str) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(name, text)
    return whole.getvalue()


def test_it_has_what_an_approval_is_compared_with_and_no_sentence() -> None:
    assert "goes" not in BODY and "create x" not in BODY
    (kept,) = unpacked(packed("a.json", BODY), "a.json").reviews("tree")
    assert [(finding.key, finding.grade) for finding in kept.findings] == [(GOES.key, GOES.grade)]
    assert kept.incomplete == ("jobs can't be read",)


def test_a_comment_names_the_one_it_was_written_with() -> None:
    """Two may have one name, by an older base or forged, and whatever names in the comment look like its end."""
    other = record_of([Review("prod")], "tree")
    comment = f"```\n{other.remark}\n```\n{MINE.remark}"
    assert written_with(comment, [other, Record(json.loads(BODY))]) == MINE
    assert written_with(comment, [other]) is None


@pytest.mark.parametrize(
    "body",
    [None, [5], {"tree": "tree"}, {"tree": "tree", "reviews": [{}]}, record_of([Review("prod")], "other").body],
    ids=["damaged", "a list", "without reviews", "of another version", "of another tree"],
)
def test_what_is_no_record_of_this_tree_covers_nothing(body: object) -> None:
    assert Record(body).reviews("tree") == ()


def test_it_is_the_one_file_of_its_name_in_an_artifact() -> None:
    for odd in (b"", b"{}", packed("b.json", "{}"), packed("a.json", "{"), packed("a.json", "[" * 100_000)):
        assert unpacked(odd, "a.json") == Record(None)
    for place, value in ((6, 1), (8, 99)):  # Of both headers: encrypted, and packed in a way that nobody knows.
        bad = bytearray(packed("a.json", "{}"))
        for start in (place, bad.index(b"PK\x01\x02") + place + 2):
            bad[start] = value
        assert unpacked(bytes(bad), "a.json") == Record(None)


def test_each_folder_of_a_repository_has_its_own() -> None:
    assert mark("a b") != mark("a") != mark("") and mark("a+b") != mark("a@b")
    assert name_of("t", "") == "slipway-review-t.json" and name_of("t", "ml/a b") == "slipway-review-t-ml~2Fa~20b.json"
