"""The team that a submission counts for, and whose clusters it may use. # N3 # N19 # P4 # N32"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from slipway.base.errors import ConfigError, PolicyError
from slipway.model.catalog.model import Catalog, Team
from slipway.model.catalog.template import OF_TEAM, Offer
from slipway.using.submission.candidate import likely
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.offline import offline, offline_candidate
from slipway.using.submission.preflight import Preflight
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.submission_request import SubmissionRequest

from .fallback_command import catalog
from .service import Context, Service

VISION, LANGUAGE, ADA = "group:vision@acme.example", "group:Language.Models@acme.example", "user:ada@acme.example"
TRAINER, EVALS, OTHER = (f"{name}@acme-ml.iam.gserviceaccount.com" for name in ("trainer", "evals", "other"))


def stack(*members: str, team: str = "", account: str = TRAINER, evals: tuple[str, ...] = ()) -> Catalog:
    """A stack whose template has a label `team`, if any, and runs as one of two trainers."""
    found = catalog(launcher=True)
    template = found.templates["digits"]

    def labelled(request: Any) -> Any:
        own = {"team": team} if team else {}
        job = {**request["jobSpec"], "serviceAccount": account}
        return {**request, "labels": {**request["labels"], **own}, "jobSpec": job}

    offers = tuple(replace(offer, request=labelled(offer.request)) for offer in template.offers)
    return replace(
        found, templates={"digits": replace(template, offers=offers)}, submitters={TRAINER: members, EVALS: evals}
    )


def prepared(of: Catalog, flag: str = "", variable: str = "") -> PreparedSubmission:
    return prepare(of, SubmissionRequest("digits", team=flag), "ada", variable)


TEAMS = {
    "the template's comes first": (stack(VISION, LANGUAGE, team="judges"), "", "vision", "judges"),
    "the only group": (stack(VISION, ADA), "", "", "vision"),
    "and may be named, whatever the variable says": (stack(VISION), "vision", "elsewhere", "vision"),
    "as a label has it": (stack(LANGUAGE), "", "", "language-models"),
    "two groups, and nobody says which": (stack(VISION, LANGUAGE), "", "", ""),
    "the variable": (stack(VISION, LANGUAGE), "", "vision", "vision"),
    "the flag before the variable": (stack(VISION, LANGUAGE), "language.models", "vision", "language-models"),
    "groups of another trainer do not count": (stack(VISION, evals=(LANGUAGE,)), "", "", "vision"),
    "all groups, for an account that is no trainer": (stack(VISION, account=OTHER, evals=(LANGUAGE,)), "", "", ""),
    "no group: the variable is of other stacks": (stack(ADA), "", "vision", ""),
    "names that no label can have": (stack("group:@", "group:***@acme.example"), "", "", ""),
}


def owned(of: Catalog, *clusters: str) -> Catalog:
    """Return the stack with a team of people of several groups, whose clusters these are."""
    teams = {"seeing": Team((VISION, ADA), clusters), "talking": Team((LANGUAGE,), ())}
    return replace(of, teams=teams)


TEAMS |= {
    "a declared team has its members, not their groups' names": (owned(stack(VISION, ADA)), "", "", "seeing"),
    "and is named by its name": (owned(stack(VISION, LANGUAGE, ADA)), "talking", "seeing", "talking"),
}


@pytest.mark.parametrize(("of", "flag", "variable", "team"), TEAMS.values(), ids=TEAMS)
def test_a_submission_counts_for_a_team(of: Catalog, flag: str, variable: str, team: str) -> None:
    candidates = prepared(of, flag, variable)
    labels = candidates.candidates[0].body["labels"]
    assert (candidates.team, labels.get("slipway-team", "")) == (team, team)


@pytest.mark.parametrize(
    ("of", "flag", "variable", "says"),
    [
        (stack(VISION, LANGUAGE, team="judges"), "vision", "", "leave out team='vision'"),
        (stack(VISION, LANGUAGE), "", "judges", "team='vision' or team='language-models'"),
        (stack(), "vision", "", "leave out team='vision'"),
        (stack(VISION, LANGUAGE), "***", "vision", "team='vision' or team='language-models'"),
    ],
)
def test_a_team_that_may_not_submit_it_is_refused(of: Catalog, flag: str, variable: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        prepared(of, flag, variable)
    assert refused.value.fix == says


def test_another_team_s_cluster_is_passed_over_and_refused_where_nothing_else_is_left() -> None:  # P4 N19
    of = owned(stack(VISION, LANGUAGE, ADA), "cpu")

    def reasons(team: str, capacity: str | None = None) -> list[str]:
        asked = SubmissionRequest("digits", capacity_type=capacity, team=team)
        found = (offline(candidate) for candidate in prepare(of, asked, "ada").candidates)
        return [judged.verdict.text + ": " + "; ".join(judged.reasons) if judged else "" for judged in found]

    may = f"add --team seeing or SLIPWAY_TEAM=seeing (for {VISION} or {ADA})"
    said = "may not run on cpu: cluster cpu takes only jobs of team seeing{}: " + may
    assert reasons("talking") == [said.format(", not of team talking"), "", ""] and reasons("seeing") == ["", "", ""]
    assert reasons("", "pool") == [said.format("")]
    with pytest.raises(PolicyError) as refused:
        offline_candidate(prepare(of, SubmissionRequest("digits", capacity_type="pool", team="talking"), "ada"))
    assert refused.value.what == "digits may not run on cpu" and may in refused.value.why
    listed = "have the cluster listed for your team too"
    assert refused.value.fix == f"team='seeing', if you are in it\nor {listed}"
    with pytest.raises(PolicyError) as refused:
        of_judges = owned(stack(VISION, LANGUAGE, ADA, team="judges"), "cpu")
        offline_candidate(prepare(of_judges, SubmissionRequest("digits", capacity_type="pool"), "ada"))
    assert refused.value.fix == listed, "no --team helps a template that is another team's"
    assert "the template's label team=judges sets" in refused.value.why and "--team" not in refused.value.why
    assert likely(prepare(of, SubmissionRequest("digits", team="talking"), "ada").candidates).label == "spot"


def test_no_team_is_told_to_name_itself_that_may_not_submit_the_template() -> None:  # N19
    of = owned(stack(LANGUAGE, account=EVALS, evals=(LANGUAGE,)), "cpu")
    (barred,) = {each.barred for each in prepare(of, SubmissionRequest("digits"), "ada").candidates if each.barred}
    assert barred.endswith("not of team talking, and nobody in it may submit this template")


def test_a_pool_of_another_team_is_said_to_be_theirs_also_where_no_offer_of_one_s_own_has_it() -> None:  # N3
    """A team with machines of its own was told of the pools that these fit alone."""
    of = owned(machined(stack(VISION, LANGUAGE, ADA)), "eyes")
    with pytest.raises(ConfigError) as refused:
        prepare(of, SubmissionRequest("digits", team="talking", pool="eyes/workers"), "ada")
    assert refused.value.why.startswith("cluster eyes takes only jobs of team seeing, not of team talking: ")


def test_a_submission_that_lacks_its_team_is_told_to_name_it() -> None:  # N19
    """The fix neither asks for less nor for more quota, though its other capacity types have none."""

    def fix(of: Catalog, user: str = "ada", **fields: Any) -> str:
        template = of.templates["digits"]
        offers = [replace(offer, available=bool(offer.cluster), **fields) for offer in template.offers]
        short = replace(of, templates={"digits": replace(template, offers=tuple(offers))})
        with pytest.raises(PolicyError) as refused:
            offline_candidate(prepare(short, SubmissionRequest("digits"), user))
        return refused.value.fix

    assert fix(owned(stack(VISION, LANGUAGE, ADA), "cpu")).startswith("team='seeing', if you are in it\nor have")
    both = replace(
        owned(stack(VISION, LANGUAGE, ADA)), teams={"a": Team((VISION,), ("cpu",)), "b": Team((ADA,), ("cpu",))}
    )
    assert fix(both).startswith("team='a' or team='b', if")
    assert fix(both, "ben").startswith("team='a', if"), "ben is not ada"
    assert fix(owned(stack(VISION, team="judges"), "cpu")).startswith("ask for less"), "its template has a team"


def test_a_submission_counts_for_one_team_by_whichever_offer_it_starts() -> None:  # N3
    """The stack lets another group submit while it waits."""
    began, now = stack(VISION), replace(stack(VISION, LANGUAGE), commit="b" * 40)
    context: Any = Context(Service(launcher=True, published=now), began)
    later = LaterOffers.after(context, prepared(began).under("r1"), 0).anew()
    assert later.prepared.catalog is now
    assert {candidate.body["labels"]["slipway-team"] for candidate in later.candidates} == {"vision"}


def test_a_job_that_waits_is_not_said_to_move_on_to_a_cluster_of_another_team() -> None:  # P4 N3
    of = owned(stack(VISION, LANGUAGE, ADA), "cpu")
    pool, spot, rest = of.templates["digits"].offers
    of = replace(of, templates={"digits": replace(of.templates["digits"], offers=(spot, pool, rest))})
    asked = prepare(of, SubmissionRequest("digits", team="talking"), "ada").under("r1")
    context: Any = Context(Service(launcher=True), of)
    with ThreadPoolExecutor() as threads:
        choice = Preflight(context, asked.candidates, threads).choice(asked, asked.candidates)
    assert choice.taken.candidate.label == "spot"
    assert [judged.candidate.label for judged in choice.hopeless] == ["pool cpu"]


def machined(of: Catalog) -> Catalog:
    """Return the stack with offers on larger machines for team seeing alone, as a deployment publishes them."""
    template = of.templates["digits"]

    def larger(offer: Offer) -> Offer:
        (pool, *rest) = offer.request["jobSpec"]["workerPoolSpecs"]
        pool = {**pool, "machineSpec": {**pool["machineSpec"], "machineType": "n1-standard-32"}}
        job = {**offer.request["jobSpec"], "workerPoolSpecs": [pool, *rest]}
        return replace(offer, when={OF_TEAM: ("seeing",), **offer.when}, request={**offer.request, "jobSpec": job})

    offers = (*template.offers, *map(larger, template.offers))
    return replace(of, templates={"digits": replace(template, offers=offers)})


def machines(of: PreparedSubmission) -> set[str]:
    return {each.body["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["machineType"] for each in of.candidates}


def test_a_team_s_submission_takes_offers_on_its_own_machines_alone() -> None:  # D6 N3
    plain = owned(stack(VISION, LANGUAGE, ADA))
    theirs, usual = machined(plain), machines(prepared(plain))
    assert machines(prepared(theirs, "seeing")) == {"n1-standard-32"} != usual
    assert len(prepared(theirs, "seeing").candidates) == len(prepared(plain).candidates)
    assert machines(prepared(theirs, "talking")) == machines(prepared(theirs)) == usual
    # An earlier client looks for a parameter of that name, of which there is none, and takes everybody's.
    (template,) = theirs.templates.values()
    values = {parameter.name: parameter.default for parameter in template.parameters}
    known = [each for each in template.offers if all(values.get(name) in some for name, some in each.when.items())]
    assert known == [each for each in template.offers if not each.when]


def test_a_fallback_stays_on_the_machines_of_the_team_that_it_was_sent_for() -> None:  # N3
    there = prepared(machined(owned(stack(VISION, LANGUAGE, ADA))), "seeing")
    context: Any = Context(Service(launcher=True, published=replace(there.catalog, commit="b" * 40)), there.catalog)
    later = LaterOffers.after(context, there.under("r1"), 0).anew()
    assert later.prepared.team == "seeing" and machines(later.prepared) == {"n1-standard-32"}
