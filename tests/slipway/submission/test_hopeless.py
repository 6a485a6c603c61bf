"""Offers that a job could never move on to are named when it is sent (N3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.clusters import PersistentResource
from slipway.errors import PolicyError
from slipway.submission.candidates import SubmissionRequest, prepare
from slipway.submission.choice import never_runs
from slipway.submission.sender import RetryPolicy
from slipway.submission.submitter import Submitter

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
    assert len([one for one in show.waits if one.overdue]) > 5, "it has looked again many times"
    assert show.notes == snapshot


def test_where_a_job_starts_now_it_is_not_said_to_move_on_to_what_can_never_run() -> None:  # N3
    """`--wait-for pool=30` on a free pool said that it then moves on to spot, which had no quota."""
    deployed = catalog(launcher=True)
    template = deployed.templates["digits"]
    pool, spot, *rest = template.offers
    offers = (pool, replace(spot, available=False, why="quota: short by 3", lacks_quota=True), *rest)
    for limit, never in ((3, ["spot can never run"]), (4, [])):  # What was granted since then counts.
        show, service = Told(), Service(launcher=True, starts=[1], limit=limit, busy=0)
        context: Any = Context(service, replace(deployed, templates={"digits": replace(template, offers=offers)}))
        journal: Any = Journal(service)
        prepared = prepare(context.catalog, SubmissionRequest("digits", waits={"pool": 30.0}, then=("spot",)), "ada")
        Submitter(context, journal, show, RetryPolicy()).submit(prepared, "r1", repeated=False)
        (choice,) = show.choices
        assert choice.taken.verdict.text.startswith("starts now")
        assert [never_runs(one).partition(":")[0] for one in choice.hopeless] == never


def test_a_wait_of_the_templates_own_names_what_was_out_of_reach_at_the_last_deployment(
    snapshot: SnapshotAssertion,
) -> None:  # N3
    show, deployed = Told(), catalog(launcher=True)
    template = deployed.templates["digits"]
    pool, spot, on_demand = template.offers
    lacking = replace(spot, available=False, why="quota: short by 3", lacks_quota=True)
    offers = (pool, lacking, on_demand)
    context: Any = Context(
        Service(launcher=True, starts=[1]), replace(deployed, templates={"digits": replace(template, offers=offers)})
    )
    journal: Any = Journal(Service(launcher=True))
    prepared = prepare(context.catalog, SubmissionRequest("digits"), "ada")
    Submitter(context, journal, show, RetryPolicy()).submit(prepared, "r1", repeated=False)
    assert [never_runs(one) for one in show.choices[0].hopeless] == snapshot


def test_a_cluster_that_is_dormant_is_named_is_no_never_and_not_what_comes_next() -> None:  # N3
    """`pool can never run: cluster day is out of season`, then `next is pool, spot`."""
    show, deployed = Told(), catalog(launcher=True)
    template = deployed.templates["digits"]
    why = "cluster day is out of season since 2026-11-21"
    asleep = replace(template.offers[0], available=False, why=why, cluster="", pools=(), dormant="day", wait=None)
    offers = (asleep, *template.offers)
    service = Service(launcher=True, starts=[None, 0], busy=0)
    context: Any = Context(service, replace(deployed, templates={"digits": replace(template, offers=offers)}))
    journal: Any = Journal(service)
    prepared = prepare(context.catalog, SubmissionRequest("digits", waits={"spot": 60.0}, then=("pool",)), "ada")
    Submitter(context, journal, show, RetryPolicy()).submit(prepared, "r1", repeated=False)
    assert [never_runs(one) for one in show.choices[0].hopeless] == [f"pool day can't run now: {why}"]
    (given_up,) = show.given_up
    assert [one.label for one in given_up.later] == ["pool cpu"]
    with pytest.raises(PolicyError, match="digits can't run now on day"):
        alone = replace(prepared, offers=((asleep, None),))
        Submitter(context, journal, show, RetryPolicy()).submit(alone, "r2", repeated=False)


class FreePool(Service):
    def persistent_resource(self, cluster: str) -> PersistentResource:
        (pool,) = super().persistent_resource(cluster).pools
        return PersistentResource(f"p/{cluster}", "RUNNING", {}, (replace(pool, used=0),), BEGIN)


@pytest.mark.parametrize(("first", "limit"), [("pool", 3), ("spot", 1000)])
def test_what_it_could_never_move_on_to_is_named_also_where_it_does_not_wait_yet(first: str, limit: int) -> None:  # N3
    """A pool that is free and Spot may let it wait all the same, and `then moves on to spot` was promised."""
    show, deployed = Told(), catalog(launcher=True)
    template = deployed.templates["digits"]
    then = "spot" if first == "pool" else "pool"
    offers = tuple(
        replace(one, available=False, why="quota: short by 3", lacks_quota=first == "pool")
        if one.capacity_type == then
        else one
        for one in template.offers
    )
    service = FreePool(launcher=True, starts=[1], limit=limit)
    context: Any = Context(service, replace(deployed, templates={"digits": replace(template, offers=offers)}))
    journal: Any = Journal(service)
    asked = SubmissionRequest("digits", waits={first: 10.0}, then=(then,))
    prepared = prepare(context.catalog, asked, "ada")
    Submitter(context, journal, show, RetryPolicy()).submit(prepared, "r1", repeated=False)
    (never,) = map(never_runs, show.choices[0].hopeless)
    assert never.startswith(f"{'spot' if then == 'spot' else 'pool cpu'} can never run: quota")
