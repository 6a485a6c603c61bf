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


@pytest.mark.parametrize(
    ("of", "flag", "variable", "team"),
    [
        (stack(VISION, LANGUAGE, team="judges"), "", "vision", "judges"),
        (stack(VISION, LANGUAGE, team="judges"), "judges", "", "judges"),
        (stack(VISION, ADA), "", "", "vision"),
        (stack(VISION), "vision", "elsewhere", "vision"),
        (stack(LANGUAGE), "", "", "language-models"),
        (stack(VISION, LANGUAGE), "", "", ""),
        (stack(VISION, LANGUAGE), "", "vision", "vision"),
        (stack(VISION, LANGUAGE), "language.models", "vision", "language-models"),
        (stack(VISION, LANGUAGE), "vision@acme.example", "", "vision"),
        (stack(VISION, evals=(LANGUAGE,)), "", "", "vision"),
        (stack(VISION, account=EVALS, evals=(LANGUAGE,)), "", "", "language-models"),
        (stack(VISION, account="other@acme-ml.iam.gserviceaccount.com", evals=(LANGUAGE,)), "", "", ""),
        (stack(ADA), "", "vision", ""),
        (stack("group:@", "group:***@acme.example"), "", "", ""),
    ],
    ids=[
        "the template's comes first",
        "and may be named",
        "the only group",
        "and may be named, whatever the variable says",
        "as a label has it",
        "two groups, and nobody says which",
        "the variable",
        "the flag before the variable",
        "a group's whole address",
        "groups of another trainer do not count",
        "that trainer's own group",
        "all groups, for an account that is no trainer",
        "no group: the variable is of other stacks",
        "names that no label can have",
    ],
)
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
