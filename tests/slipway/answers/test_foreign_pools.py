"""Pools that no template of the cluster's teams fits."""

from slipway.answers import policy
from slipway.answers.answer import differences
from slipway.answers.comparison import Side
from slipway.model.catalog.model import Team
from slipway.model.catalog.template import Template
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade
from slipway.model.labels import TEAM
from tests.slipway.reviewing.builders import H100, change, cluster, facts, offer, pool, request, template, worker_pool

PEOPLE = ("group:vision@acme.example", "group:search@acme.example")
BIG = cluster("h100", pool("workers", H100, low=2))


def of_team(team: str) -> Template:
    body = request(worker_pool(H100))
    labels = {TEAM: team} if team else {}
    on_pool = offer(cluster="h100", machine=H100, request={**body, "labels": {**body["labels"], **labels}})
    return template("lora", on_pool)


def stack(owner: str, only: Template) -> Facts:
    teams = {"vision": Team(PEOPLE[:1]), "search": Team(PEOPLE[1:])}
    if owner:
        teams[owner] = Team(teams[owner].submitters, ("h100",))
    return facts(BIG, only, members=PEOPLE, teams=teams)


def found(before: Facts, after: Facts) -> list[Finding]:
    comparison = change(before, after).comparison
    sides = [tuple(policy.answers(comparison, side)) for side in Side]
    return [each for each in policy.findings(comparison, differences(*sides)) if each.kind == "stack-warning"]


def test_no_template_of_the_team_fits() -> None:
    (told,) = found(stack("", of_team("search")), stack("vision", of_team("search")))
    assert (told.grade, str(told.subject)) == (Grade.BLOCKING, "pool h100/workers")
    assert told.sentence.startswith("no template of team `vision` can run on it; $")
    assert told.sentence.endswith("/month")


def test_a_template_of_the_team_or_of_all_teams_fits() -> None:
    assert found(stack("", of_team("search")), stack("search", of_team("search"))) == []
    assert found(stack("", of_team("")), stack("vision", of_team(""))) == []
    assert found(stack("vision", of_team("search")), stack("vision", of_team("search"))) == [], "as before"
