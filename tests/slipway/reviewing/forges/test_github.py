"""GitHub asked who approved a merge result, and for the record of its review, by a stand-in. # N14"""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import pytest

from slipway.base.errors import ResourceError
from slipway.reviewing.forges.github import GitHub
from slipway.reviewing.record import Record
from slipway.reviewing.render.comment import MARKER
from tests.ci import github as stand_in
from tests.ci.github import OTHER, TREE, Artifact, Comment, Review

from .lacking import said_without

MINE, FORGED = Record("mine"), Record("forged")
KEPT = Artifact(json.dumps(MINE.body))


@pytest.fixture
def server() -> Iterator[stand_in.GitHub]:
    with stand_in.served() as github:
        github.comments = [Comment(f"{MARKER}\n{MINE.remark}\n")]
        yield github


def found(server: stand_in.GitHub, *artifacts: Artifact, by: str = "preview.yaml") -> Record | None:
    server.artifacts = list(artifacts)
    pull = GitHub(server.variables(merged=True) | {"REVIEWED_BY": by}).merge_result().pull_request
    return pull.record if pull else None


@pytest.mark.parametrize(
    "other",
    [
        replace(KEPT, fork=True),
        replace(KEPT, head=OTHER),
        replace(KEPT, name=f"slipway-review-{OTHER}.json"),
        replace(KEPT, workflow="mine.yaml"),
        replace(KEPT, event="workflow_dispatch"),
        replace(KEPT, expired=True),
        replace(KEPT, text=json.dumps(FORGED.body)),
    ],
    ids=["a fork's", "of another branch", "of another tree", "of another workflow", "by hand", "expired", "another"],
)
def test_what_no_run_of_the_review_has_kept_is_none(server: stand_in.GitHub, other: Artifact) -> None:
    """Although it is what the comment names, or has the name."""
    assert found(server, other) is None
    assert found(server, other, KEPT) == found(server, KEPT, other) == MINE


def test_a_comment_that_names_another_has_none(server: stand_in.GitHub) -> None:
    server.comments = [Comment(f"{MARKER}\n{FORGED.remark}\n")]
    assert found(server, KEPT) is None
    server.comments = []
    assert found(server, KEPT) is None


def test_a_team_s_workflow_has_another_name(server: stand_in.GitHub) -> None:
    theirs = replace(KEPT, workflow="slipway-preview.yaml")
    assert found(server, theirs, by="slipway-preview.yaml") == MINE
    assert found(server, theirs) is None


def test_a_job_that_may_not_read_it_is_told_the_right(server: stand_in.GitHub) -> None:
    server.hidden = True
    with pytest.raises(ResourceError, match="actions: read"):
        found(server, KEPT)


def test_an_answer_that_lacks_a_field_is_none_of_the_api_s(
    server: stand_in.GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reviews = [Review()]
    said = said_without(monkeypatch, lambda: found(server, KEPT))
    of_run = ("repository", "repository.id", "head_repository", "head_repository.id", "id")
    needed = {f"1 workflow_runs.0.{name}" for name in of_run} | {"2 artifacts.0.id", "2 artifacts.0.expired"}
    assert needed <= said.keys()
    assert [why for why in said.values() if "the answer is not what the API's are" not in why] == []


@pytest.mark.parametrize(
    ("reviews", "why"),
    [
        ([Review()], ""),
        ([Review("CHANGES_REQUESTED", by="alan"), Review()], ""),
        ([], "nobody else with write access has approved #3"),
        ([Review("CHANGES_REQUESTED")], "nobody else"),
        ([Review("DISMISSED")], "nobody else"),
        ([Review(may_write=False)], "nobody else"),
        ([Review(by="github-actions", kind="Bot")], "nobody else"),
        ([Review(by="ada")], "nobody else"),
        ([Review(by=None)], "nobody else"),
        ([Review(tree=OTHER)], f"grace approved #3 as another tree, {OTHER[:12]}, than this one, {TREE[:12]}"),
        ([Review(tree=None)], "as another tree, one that is gone"),
        ([Review(at="2026-11-21T09:05:00Z")], "the comment of #3 was changed after grace approved it"),
    ],
    ids=[
        *("approved", "another one", "nobody", "changed mind", "taken back", "a reader", "a workflow", "their own"),
        *("an account that is gone", "another tree", "a commit that is gone", "no later than the comment"),
    ],
)
def test_a_writer_s_newest_word_on_this_tree_counts_and_nobody_s_own(
    server: stand_in.GitHub, reviews: list[Review], why: str
) -> None:
    server.reviews = reviews
    result = GitHub(server.variables(merged=False)).merge_result()
    assert bool(result.approvers) is not bool(why)
    assert why in result.objection[0]


@pytest.mark.parametrize(("before", "after", "found"), [(150, 0, True), (0, 250, True), (150, 150, False)])
def test_the_comment_is_looked_for_among_many(server: stand_in.GitHub, before: int, after: int, *, found: bool) -> None:
    others = [Comment(f"{n}", "bob", "User") for n in range(before + after)]
    server.comments = [*others[:before], *server.comments, *others[before:]]
    asked = GitHub(server.variables(merged=False))
    with nullcontext() if found else pytest.raises(ResourceError, match="too many comments"):
        pull = asked.merge_result().pull_request
        assert pull and pull.comment and pull.comment.id == f"IC_{before}"
