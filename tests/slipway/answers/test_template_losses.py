"""Templates that lose Slipway's launcher, or count for a team whose budget is enforced."""

from dataclasses import replace
from typing import Any

from slipway.answers import submission_findings, submissions
from slipway.answers.answer import differences
from slipway.answers.comparison import Side
from slipway.model.budget import Budget
from slipway.model.catalog.model import Team
from slipway.model.catalog.template import Template
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.model.labels import TEAM
from tests.slipway.answers.test_submissions import found
from tests.slipway.reviewing.builders import CPU, change, facts, offer, request, template, worker_pool

SECRET = {"JUDGE_KEY__SECRET": "projects/p/secrets/judge/versions/latest"}
OWN_IMAGE = "us-docker.pkg.dev/acme/images/train:1"


def with_pool(**fields: Any) -> Template:
    return template("lora", offer(request=request(worker_pool(CPU, **fields))))


def test_a_lost_launcher_takes_secrets_output_and_exactly_one_start() -> None:
    old, new = facts(with_pool(env=SECRET)), facts(with_pool(env=SECRET, image=OWN_IMAGE))
    comparison = change(old, new).comparison
    sides = [submissions.answers(comparison, side) for side in Side]
    told, *others = submission_findings.findings(comparison, differences(*sides))
    assert told.grade is Grade.BLOCKING
    assert told.sentence == ("loses Slipway's launcher: secrets of `JUDGE_KEY`, kept output and exactly-once start")
    assert {each.kind for each in others} == {"submission-warning"}
    assert "submission-changed" not in found(new, old)


def labeled(team: str, budget: Budget | None = None) -> Facts:
    body = request(worker_pool(CPU))
    labels = {TEAM: team} if team else {}
    of_team = offer(request={**body, "labels": {**body["labels"], **labels}})
    return facts(template("lora", of_team), teams={"search": Team()}, budget=budget)


def test_a_template_counts_for_a_team_with_an_enforced_budget() -> None:
    enforced = Budget(teams={"search": 2000.0}, enforce=True)
    told = found(labeled("", enforced), labeled("search", enforced))["submission-changed"]
    assert told.grade is Grade.WARNING
    assert told.sentence == (
        "default submissions: `counts for team` none → search, whose budget of $2,000 a month is enforced"
    )
    loose = replace(enforced, enforce=False)
    assert found(labeled("", loose), labeled("search", loose))["submission-changed"].grade is Grade.NOTE
    assert "submission-changed" not in found(labeled("search", loose), labeled("search", enforced))
