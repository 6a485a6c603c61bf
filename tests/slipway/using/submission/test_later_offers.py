"""Offers that a job may move on to: those that never can are named, and a wait goes by each look's catalog. # N3"""

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError, PolicyError
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.catalog.withdrawal import in_season
from slipway.model.season import Season
from slipway.using.submission.choice import never_runs
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.prepared import prepare
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.submitter import Submitter

from .fallback_command import Told, catalog, command
from .service import BEGIN, Context, Journal, Service


def test_what_it_could_never_move_on_to_is_named_before_it_is_sent_and_then_said_once(
    snapshot: SnapshotAssertion,
) -> None:  # N3
    """`--wait-for pool=10s --then spot` with a quota below what one job needs: it said the same every minute."""
    show, service = Told(), Service(launcher=True, starts=[400], limit=3)
    asked = SubmissionRequest("digits", waits={"pool": 10.0}, then=("spot",))
    command(service, again=False, asked=asked, show=show)
    (choice,) = show.choices
    (never,) = map(never_runs, choice.hopeless)
    short = "quota custom_model_training_preemptible_cpus us-central1: needs 4, limit 3"
    assert never == f"spot can never run: {short}"
    assert len([wait for wait in show.waits if wait.overdue]) > 5, "it has looked again many times"
    assert show.notes == snapshot


def with_offers(*offers: Offer) -> Catalog:
    return replace(DEPLOYED, templates={"digits": replace(DEPLOYED.templates["digits"], offers=offers)})


def sent(
    service: Service, show: Told, deployed: Catalog, asked: SubmissionRequest, offers: tuple[Offer, ...] = ()
) -> SubmissionResult:
    """The command, typed once while this catalog is deployed; `offers`: it may take no others."""
    context: Any = Context(service, deployed)
    journal: Any = Journal(service)
    prepared = prepare(deployed, asked, "ada")
    if offers:
        prepared = replace(prepared, offers=tuple((offer, None) for offer in offers))
    return Submitter(context, journal, show, RetryPolicy()).submit(prepared, "r1", repeated=False)


DEPLOYED = catalog(launcher=True)
POOL, SPOT, ON_DEMAND = DEPLOYED.templates["digits"].offers
LACKING = replace(SPOT, available=False, why="quota: short by 3", lacks_quota=True)


@pytest.mark.parametrize(
    ("asked", "wait"),
    [
        (SubmissionRequest("digits", waits={"pool": 30.0}, then=("spot",)), POOL.wait),
        (SubmissionRequest("digits"), 30.0),
    ],
    ids=["planned by the submitter", "planned by the template"],
)
def test_where_a_job_starts_now_it_is_not_said_to_move_on_to_what_can_never_run(  # N3
    asked: SubmissionRequest, wait: float | None
) -> None:
    """`--wait-for pool=30` on a free pool said that it then moves on to spot, which had no quota; a template's own wait
    that spot can never run, whose quota had been granted since."""
    disks = "custom_model_training_pd_ssd"
    listed, ids = {disks: -1}, {disks: "CustomModelTrainingPdSsdPerProjectPerRegion"}
    for limit, never in ((3, ["spot can never run"]), (4, [])):  # What was granted since then counts.
        show, service = Told(), Service(launcher=True, starts=[1], limit=limit, busy=0, listed=listed, ids=ids)
        deployed = replace(with_offers(replace(POOL, wait=wait), LACKING, ON_DEMAND), quotas=ids)
        sent(service, show, deployed, asked)
        (choice,) = show.choices
        assert choice.taken.verdict.text.startswith("starts now")
        assert [never_runs(offer).partition(":")[0] for offer in choice.hopeless] == never


def test_a_cluster_that_is_dormant_is_named_is_no_never_and_not_what_comes_next() -> None:  # N3
    """`pool can never run: cluster day is out of season`, then `next is pool, spot`."""
    why = "cluster day is out of season since 2026-11-21"
    asleep = replace(POOL, available=False, why=why, cluster="", pools=(), dormant="day", wait=None)
    show, service = Told(), Service(launcher=True, starts=[None, 0], busy=0)
    deployed, asked = (
        with_offers(asleep, POOL, SPOT, ON_DEMAND),
        SubmissionRequest("digits", waits={"spot": 60.0}, then=("pool",)),
    )
    sent(service, show, deployed, asked)
    assert [never_runs(offer) for offer in show.choices[0].hopeless] == [f"pool day can't run now: {why}"]
    (given_up,) = show.given_up
    assert [item.label for item in given_up.later] == ["pool cpu"]
    with pytest.raises(PolicyError, match="digits can't run now on day"):
        sent(Service(launcher=True), show, deployed, asked, (asleep,))


SPOT_THEN_POOL = SubmissionRequest("digits", waits={"spot": 30.0}, then=("pool",))


def with_text(template: Template, old: str, new: str) -> Template:
    """`new` in place of `old` in all requests."""
    requests = json.loads(json.dumps([offer.request for offer in template.offers]).replace(old, new))
    pairs = zip(template.offers, requests, strict=True)
    return replace(template, offers=tuple(replace(offer, request=request) for offer, request in pairs))


def of_template(change: Callable[[Template], Template]) -> Catalog:
    """Deployed again with another template."""
    return replace(DEPLOYED, commit="b" * 40, templates={"digits": change(DEPLOYED.templates["digits"])})


ROLLED_OVER = replace(
    of_template(lambda template: with_text(template, "cpu-1", "cpu-2")),
    clusters={"cpu": replace(DEPLOYED.clusters["cpu"], id="cpu-2")},
)
"""Its cluster has a successor."""


def test_it_moves_on_to_the_successor_of_the_cluster_that_it_began_with(snapshot: SnapshotAssertion) -> None:  # N2, N3
    """It said that the cluster was gone, or sent the job to the old one."""
    service, show = Service(launcher=True, busy=0, starts=[None, 0]), Told()
    service.published, service.gone = ROLLED_OVER, frozenset({"cpu-1"})
    done = sent(service, show, DEPLOYED, SPOT_THEN_POOL)
    assert done.attempt.job.persistent_resource_id == "cpu-2"
    assert done.context.catalog is service.published
    assert show.notes == snapshot
    service.end_of_days()
    assert service.runs == ["7001"]


def test_while_no_catalog_can_be_read_nothing_is_given_up() -> None:  # N2, N3
    service, show = Service(launcher=True, busy=0, starts=[None, 0], faults={"catalog": ["busy"] * 3}), Told()
    service.published = ROLLED_OVER
    done = sent(service, show, DEPLOYED, SPOT_THEN_POOL)
    assert done.attempt.job.persistent_resource_id == "cpu-2" and len(service.jobs) == 2
    first, second = show.notes
    assert "sure to run" in first and "busy" in first
    assert second.startswith("catalog bbbbbbb was published")
    assert len([wait for wait in show.waits if wait.overdue]) >= 3, "it has looked again each minute"


def test_a_season_that_ends_while_it_waits_is_passed_over_and_no_new_catalog(
    snapshot: SnapshotAssertion,
) -> None:  # B6, N3
    service, show = Service(launcher=True, busy=0, starts=[60]), Told()
    cpu = replace(DEPLOYED.clusters["cpu"], season=Season(None, BEGIN))
    service.published = in_season(replace(DEPLOYED, clusters={"cpu": cpu}), BEGIN)
    done = sent(service, show, replace(DEPLOYED, clusters={"cpu": cpu}), SPOT_THEN_POOL)
    assert len(service.jobs) == 1 and not done.attempt.job.persistent_resource_id
    first, second = show.notes
    assert first == snapshot
    assert "cpu is out of season" in second


FOLDS = Parameter("folds", "int", 5)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (replace(DEPLOYED, templates={}), "template 'digits' not found in catalog local"),
        (of_template(lambda template: replace(template, parameters=(FOLDS,))), "folds: none then, 5 now"),
        (
            of_template(lambda template: replace(template, offers=template.offers[1:])),
            "digits has no capacity type 'pool'",
        ),
        (of_template(lambda template: replace(template, kinds=("training-pipeline",))), "digits can't run as a"),
    ],
    ids=["no-template", "parameters", "no-offer", "kind"],
)
def test_a_catalog_that_makes_another_job_of_it_gives_nothing_up(now: Catalog, said: str) -> None:  # N3
    service, show = Service(launcher=True, busy=0, starts=[400], published=now), Told()
    done = sent(service, show, DEPLOYED, SPOT_THEN_POOL)
    assert done.attempt.job.id == "7000" and [job.state for job in service.jobs] == ["JOB_STATE_RUNNING"]
    (note,) = show.notes
    assert f"{done.attempt.job.display_name} stays there\n  " in note and said in note


@pytest.mark.parametrize(
    ("place", "now", "left"),
    [
        (0, ["pool", "spot", "on-demand"], ["spot", "on-demand"]),
        (1, ["pool", "spot", "on-demand"], ["on-demand"]),
        (1, ["pool", "on-demand"], ["on-demand"]),
        (1, ["on-demand"], ["on-demand"]),
        (0, ["spot", "pool", "on-demand"], ["on-demand"]),
    ],
)
def test_what_comes_next_is_what_follows_the_waiting_one_now(place: int, now: list[str], left: list[str]) -> None:  # N3
    """Of what it has tried before, where its own offer is gone."""
    offers = {offer.capacity_type: offer for offer in DEPLOYED.templates["digits"].offers}
    published = of_template(lambda template: replace(template, offers=tuple(offers[name] for name in now)))
    context: Any = Context(Service(launcher=True, published=published), DEPLOYED)
    prepared = prepare(DEPLOYED, SubmissionRequest("digits"), "ada").under("r1")
    later = LaterOffers.after(context, prepared, place).anew()
    assert [candidate.offer.capacity_type for candidate in later.candidates] == left
    assert later.prepared.request_id == "r1" and later.prepared.catalog is published


def test_an_offer_that_was_gone_for_one_deployment_is_no_later_one() -> None:  # N3
    """A job that waited on the pool was cancelled, and sent to the pool where it had been queued."""
    pool, spot, on_demand = DEPLOYED.templates["digits"].offers
    service = Service(launcher=True)
    context: Any = Context(service, DEPLOYED)
    later = LaterOffers.after(context, prepare(DEPLOYED, SubmissionRequest("digits"), "ada").under("r1"), 0)
    left = []
    for offers in ((spot, on_demand), (pool, spot, on_demand), (spot, on_demand, pool), (on_demand, pool, spot)):
        service.published = of_template(partial(replace, offers=offers))
        with contextlib.suppress(ConfigError):
            later = later.anew()
            left.append([candidate.offer.capacity_type for candidate in later.candidates])
    assert left == [["spot", "on-demand"], ["spot", "on-demand"], ["spot"]]


def test_code_of_ones_own_does_not_go_to_a_template_that_takes_none_any_more() -> None:  # N3
    own = partial(with_text, old="gs://catalog/packages/digits.tar.gz", new="${slipway.package}")
    then, now = of_template(lambda template: replace(own(template), code_flag=True)), of_template(own)
    context: Any = Context(Service(launcher=True, published=now), then)
    asked = replace(SPOT_THEN_POOL, overrides=RequestOverrides(package="gs://work/code/1/digits.tar.gz"))
    with pytest.raises(PolicyError, match="digits runs the code that was reviewed with it"):
        LaterOffers.after(context, prepare(then, asked, "ada"), 0).anew()
