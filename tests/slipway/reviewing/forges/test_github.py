"""The record that GitHub keeps of a review: of all artifacts of its name, that of the review's own runs. # N14"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from slipway.base.errors import ResourceError
from slipway.reviewing.forges.github import GitHub
from slipway.reviewing.record import Record
from slipway.reviewing.told.comment import MARKER
from tests.ci import github as stand_in
from tests.ci.github import OTHER, Artifact, Comment

MINE, FORGED = Record("mine"), Record("forged")
KEPT = Artifact(json.dumps(MINE.body))


@pytest.fixture
def server() -> Iterator[stand_in.GitHub]:
    with stand_in.served() as github:
        github.comments = [Comment(f"{MARKER}\n{MINE.remark}\n")]
        yield github


def found(server: stand_in.GitHub, *artifacts: Artifact, by: str = "preview.yaml") -> Record | None:
    server.artifacts = list(artifacts)
    pull = GitHub(server.variables(merged=True) | {"REVIEWED_BY": by}, Path()).merge_result().pull_request
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
