"""The team that a submission counts for. # N19"""

from dataclasses import replace
from typing import Any

import pytest

from slipway.catalog.model import Catalog
from slipway.errors import ConfigError
from slipway.submission.candidates import PreparedSubmission, SubmissionRequest, prepare
from slipway.submission.later_offers import LaterOffers

from .fallback_command import catalog
from .service import Context, Service

VISION, LANGUAGE, ADA = "group:vision@acme.example", "group:Language.Models@acme.example", "user:ada@acme.example"
TRAINER, EVALS = (f"{name}@acme-ml.iam.gserviceaccount.com" for name in ("trainer", "evals"))


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
    "and may be named": (stack(VISION, LANGUAGE, team="judges"), "judges", "", "judges"),
    "the only group": (stack(VISION, ADA), "", "", "vision"),
    "and may be named, whatever the variable says": (stack(VISION), "vision", "elsewhere", "vision"),
    "as a label has it": (stack(LANGUAGE), "", "", "language-models"),
    "two groups, and nobody says which": (stack(VISION, LANGUAGE), "", "", ""),
    "the variable": (stack(VISION, LANGUAGE), "", "vision", "vision"),
    "the flag before the variable": (stack(VISION, LANGUAGE), "language.models", "vision", "language-models"),
    "a group's whole address": (stack(VISION, LANGUAGE), "vision@acme.example", "", "vision"),
    "groups of another trainer do not count": (stack(VISION, evals=(LANGUAGE,)), "", "", "vision"),
    "that trainer's own group": (stack(VISION, account=EVALS, evals=(LANGUAGE,)), "", "", "language-models"),
    "all groups, for an account that is no trainer": (
        stack(VISION, account="other@acme-ml.iam.gserviceaccount.com", evals=(LANGUAGE,)),
        "",
        "",
        "",
    ),
    "no group: the variable is of other stacks": (stack(ADA), "", "vision", ""),
    "names that no label can have": (stack("group:@", "group:***@acme.example"), "", "", ""),
}


@pytest.mark.parametrize(("of", "flag", "variable", "team"), TEAMS.values(), ids=TEAMS)
def test_a_submission_counts_for_a_team(of: Catalog, flag: str, variable: str, team: str) -> None:
    found = prepared(of, flag, variable)
    labels = found.candidates[0].body["labels"]
    assert (found.team, labels.get("slipway-team", "")) == (team, team)


@pytest.mark.parametrize(
    ("of", "flag", "variable", "says"),
    [
        (stack(VISION, LANGUAGE, team="judges"), "vision", "", "leave out --team"),
        (stack(VISION, LANGUAGE), "", "judges", "--team vision or --team language-models"),
        (stack(VISION, LANGUAGE), "judges", "vision", "--team vision or --team language-models"),
        (stack(VISION), "judges", "", "leave out --team"),
        (stack(), "vision", "", "leave out --team"),
        (stack(VISION, LANGUAGE), "***", "vision", "--team vision or --team language-models"),
    ],
)
def test_a_team_that_may_not_submit_it_is_refused(of: Catalog, flag: str, variable: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        prepared(of, flag, variable)
    assert refused.value.fix == says


def test_a_submission_counts_for_one_team_by_whichever_offer_it_starts() -> None:  # N3
    """The stack lets another group submit while it waits."""
    began, now = stack(VISION), replace(stack(VISION, LANGUAGE), commit="b" * 40)
    context: Any = Context(Service(launcher=True, published=now), began)
    later = LaterOffers.after(context, prepared(began).under("r1"), 0).anew()
    assert later.prepared.catalog is now
    assert {one.body["labels"]["slipway-team"] for one in later.candidates} == {"vision"}
