"""Templates that move to an account as which their submitters can't submit."""

from dataclasses import replace

import pytest

from slipway.answers.moved_accounts import moved_accounts
from slipway.google.jobs import VertexJob
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.findings.finding import Grade
from tests.slipway.answers.test_submissions import jobs, of
from tests.slipway.reviewing.builders import TEAM, change, offer

JUDGE = "judge@acme.example"
OWN = of(offer())


def as_judge(*members: str) -> Facts:
    """Return the stack whose template runs as a trainer of these submitters."""
    moved = of(offer(), serviceAccount=JUDGE)
    catalog = replace(moved.catalog, trainers={"judge": JUDGE})
    trainer = TrainerFacts("judge", JUDGE, dict.fromkeys(members, "roles/iam.serviceAccountUser"))
    return replace(moved, catalog=catalog, trainers={"judge": trainer})


def found(after: Facts, *recent: VertexJob) -> list[str]:
    findings = list(moved_accounts(change(OWN, after, recent=recent).comparison))
    assert all(each.grade is Grade.BLOCKING for each in findings)
    return [each.sentence for each in findings]


def test_an_account_without_submitters() -> None:
    assert found(as_judge()) == ["nobody can submit it: `judge` has no submitters"]


def test_users_of_the_last_days_who_are_not_listed() -> None:
    after = as_judge("user:ada@acme.example", "user:eve@acme.example")
    (sentence,) = found(after, *jobs())
    assert sentence == "`ben`, who submitted it in the last 30 days, can't submit as `judge`"


def test_other_submitters_than_before() -> None:
    other = "group:evals@acme.example"
    (sentence,) = found(as_judge(other))
    only = "only group `evals@acme.example` can submit it now, as `judge`"
    assert sentence == f"{only}; no longer group `ml@acme.example`"


def test_users_who_may_belong_to_the_group() -> None:
    (sentence,) = found(as_judge(TEAM), *jobs())
    assert sentence.endswith("can submit it now, as `judge`; in the last 30 days `ada` and `ben` did")
    assert found(as_judge(TEAM)) == []


@pytest.mark.parametrize("after", [OWN, of(offer(), serviceAccount="x@acme.example")])
def test_no_loss(after: Facts) -> None:
    assert found(after, *jobs()) == []
