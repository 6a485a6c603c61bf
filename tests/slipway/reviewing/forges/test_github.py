"""The record that GitHub keeps of a review: of all artifacts of its name, that of the review's own run. # N14"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from slipway.base.errors import ResourceError
from slipway.reviewing.forges.github import GitHub
from slipway.reviewing.record import Record
from tests.ci import github as stand_in
from tests.ci.github import APPROVED, LATER, OTHER, TREE, WRITTEN, Artifact, Review

OLD, NEW = Artifact("old"), Artifact("new", at="2026-11-21T09:10:00Z")


@pytest.fixture
def server() -> Iterator[stand_in.GitHub]:
    with stand_in.served() as github:
        yield github


def found(
    server: stand_in.GitHub, *artifacts: Artifact, merged: bool = True, by: str = "preview.yaml"
) -> Record | None:
    server.artifacts = list(artifacts)
    environ = server.variables(merged=merged) | ({"REVIEWED_BY": by} if merged else {})
    pull = GitHub(environ, Path()).merge_result().pull_request
    return pull.record if pull else None


@pytest.mark.parametrize("merged", [True, False])
def test_the_newest_of_its_tree_is_read(server: stand_in.GitHub, *, merged: bool) -> None:
    """As by an older base, whose code judged otherwise, and then by a newer one."""
    for both in ((OLD, NEW), (NEW, OLD)):
        assert found(server, *both, merged=merged) == Record("new", NEW.at)


@pytest.mark.parametrize(
    "forged",
    [
        replace(NEW, fork=True),
        replace(NEW, head=OTHER),
        replace(NEW, name=f"slipway-review-{OTHER}.json"),
        replace(NEW, workflow="mine.yaml"),
        replace(NEW, event="workflow_dispatch"),
        replace(NEW, expired=True),
    ],
    ids=["a fork's", "of another branch", "of another tree", "of another workflow", "by hand", "expired"],
)
def test_another_run_s_is_none(server: stand_in.GitHub, forged: Artifact) -> None:
    assert found(server, forged) is None
    assert found(server, OLD, forged) == Record("old", WRITTEN), "and hides none"


def test_a_team_s_workflow_has_another_name(server: stand_in.GitHub) -> None:
    theirs = replace(NEW, workflow="slipway-preview.yaml")
    assert found(server, theirs, by="slipway-preview.yaml") == Record("new", NEW.at)
    assert found(server, theirs) is None


@pytest.mark.parametrize("odd", [replace(NEW, file="other.json"), replace(NEW, packed=False)])
def test_an_artifact_of_something_else_has_no_text(server: stand_in.GitHub, odd: Artifact) -> None:
    assert found(server, OLD, odd) == Record("", NEW.at)


def test_of_more_than_github_lists_at_once_none_is_the_newest(server: stand_in.GitHub) -> None:
    assert found(server, *[NEW] * 101) is None


@pytest.mark.parametrize(("at", "approvers"), [(WRITTEN, ("grace",)), (APPROVED, ("grace",)), (LATER, ())])
def test_an_approval_is_no_older_than_it(server: stand_in.GitHub, at: str, approvers: Sequence[str]) -> None:
    server.artifacts, server.reviews = [replace(NEW, at=at)], [Review()]
    environ = server.variables(merged=True) | {"REVIEWED_BY": "preview.yaml"}
    assert GitHub(environ, Path()).merge_result().approvers == approvers


def test_a_job_that_may_not_read_it_is_told_the_right(server: stand_in.GitHub) -> None:
    server.hidden = True
    with pytest.raises(ResourceError, match="actions: read"):
        found(server, NEW)
    assert TREE in NEW.name
