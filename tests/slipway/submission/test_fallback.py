"""Moving on, in any order of starts, faults, lagging lists, lost answers and kills."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Catalog, Offer, Template
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError
from slipway.errors import AnswerUnknown, Cancelled, PolicyError
from slipway.prices import UNKNOWN
from slipway.submission import candidates
from slipway.submission.candidates import SubmissionRequest, prepare
from slipway.submission.choice import Choice, never_runs
from slipway.submission.costs import Spending
from slipway.submission.fallback import WaitingAttempt
from slipway.submission.request import attempt_id, fill
from slipway.submission.sender import RetryPolicy
from slipway.submission.submitter import SubmissionDisplay, SubmissionResult, Submitter

from .service import BEGIN, HOME, Context, Journal, Killed, Service, is_passing


def test_each_sending_has_an_id_of_its_own() -> None:
    assert len({attempt_id("r1", number) for number in range(9)} | {attempt_id("r2", 1)}) == 10
    assert attempt_id("r1", 0) == "r1"


def catalog(*, launcher: bool, pool_region: str = HOME, cluster_id: str = "cpu-1") -> Catalog:
    claim = ["--claim", "gs://work/claims/${slipway.request}", "--module", "digits.task"]
    package = {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
        "packageUris": ["gs://catalog/packages/digits.tar.gz"],
        "pythonModule": "slipway_launcher",
        "args": claim,
    }
    code = {"pythonPackageSpec": package} if launcher else {"containerSpec": {"imageUri": "digits@sha256:1"}}
    machine = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, **code}

    def offer(name: str, cluster: str, wait: float | None, **scheduling: str) -> Offer:
        place = {"persistentResourceId": cluster_id} if cluster else {"scheduling": scheduling}
        labels = {"slipway-request": "${slipway.request}", "slipway-stack": "local", "slipway-template": "digits"}
        request = {
            "displayName": "${slipway.job}",
            "labels": {**labels, "slipway-capacity-type": name},
            "jobSpec": {"workerPoolSpecs": [machine], **place},
        }
        return Offer(name, True, "", cluster, ("workers",) if cluster else (), UNKNOWN, request, wait=wait)

    offers = (
        offer("pool", "cpu", 60.0),
        offer("spot", "", 30.0, strategy="SPOT"),
        offer("on-demand", "", None, strategy="STANDARD"),
    )
    template = Template("digits", "", "custom-job", ("main",), (), offers)
    return Catalog(
        "local",
        "p",
        "us-central1",
        "",
        False,
        "work",
        "t",
        {"cpu": Cluster("cpu", cluster_id, {}, region=pool_region)},
        (),
        {"digits": template},
    )


class Quiet:
    """Shows nothing."""

    def note(self, text: str) -> None: ...

    def chosen(self, *_: Any) -> None: ...

    def sent(self, *_: Any) -> None: ...

    def confirm(self, costs: Spending) -> None:
        raise costs.refusal

    def falling_back(self, *_: Any) -> None: ...

    @contextlib.contextmanager
    def watching(self, waiting: Any) -> Iterator[Callable[[Any], None]]:
        yield lambda event: None


class Told(Quiet):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.choices: list[Choice] = []
        self.waits: list[WaitingAttempt] = []
        self.given_up: list[WaitingAttempt] = []

    def falling_back(self, waiting: WaitingAttempt) -> None:
        self.given_up.append(waiting)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def chosen(self, _: Any, choice: Choice) -> None:
        self.choices.append(choice)

    @contextlib.contextmanager
    def watching(self, waiting: WaitingAttempt) -> Iterator[Callable[[Any], None]]:
        self.waits.append(waiting)
        yield lambda event: None


def command(
    service: Service,
    *,
    again: bool,
    asked: SubmissionRequest = SubmissionRequest("digits"),  # noqa: B008 - it is frozen
    show: SubmissionDisplay | None = None,
    renewed: bool = False,
    lacks: str = "",
    without_quota: str = "",
    confirm_above: float | None = None,
) -> SubmissionResult:
    """The command, typed once. `renewed`: the pool's cluster has been rolled over; `lacks`: the template has lost the
    offer of that capacity type; `without_quota`: that offer lacked quota when it was deployed."""
    cluster_id = "cpu-2" if renewed else "cpu-1"
    deployed = catalog(launcher=service.launcher, pool_region=service.pool_region, cluster_id=cluster_id)
    template = deployed.templates["digits"]
    offers = tuple(
        replace(offer, available=False, why="quota: short by 3", lacks_quota=True)
        if offer.capacity_type == without_quota
        else offer
        for offer in template.offers
        if offer.capacity_type != lacks
    )
    templates = {"digits": replace(template, offers=offers)}
    context: Any = Context(
        service, replace(deployed, templates=templates, quotas=service.ids, confirm_above=confirm_above)
    )
    prepared = prepare(context.catalog, asked, "ada")
    journal: Any = Journal(service)
    return Submitter(context, journal, show or Quiet(), RetryPolicy()).submit(prepared, "r1", repeated=again)


def typed_until_it_is_done(service: Service, renewed_after: int = 60, lacks: str = "") -> SubmissionResult | None:
    """The same command, again after each kill and each error that passes. None when it says that it sends no more.

    `renewed_after`: so many commands see the first generation of the pool's cluster, and the offer that is lost then.
    """
    for attempt in range(60):
        service.dead = False
        try:
            deployed = attempt >= renewed_after
            return command(service, again=attempt > 0, renewed=deployed, lacks=lacks if deployed else "")
        except (Killed, AnswerUnknown):
            continue
        except Cancelled:
            return None
        except CloudError as problem:
            assert is_passing(problem), problem
    raise AssertionError("it never ended")


FAULTS = st.lists(st.sampled_from(["", "", "lost", "busy", "kill", "killed"]), max_size=6)
POOL_REGIONS = st.sampled_from([HOME, "europe-west4"])
RENEWED_AFTER = st.sampled_from([1, 2, 3, 60])
LACKS = st.sampled_from(["", "pool", "spot"])
STARTS = st.lists(st.none() | st.integers(0, 40), max_size=4)


@given(
    faults=st.fixed_dictionaries(dict.fromkeys(("create", "get", "list", "cancel", "take", "read", "catalog"), FAULTS)),
    starts=STARTS,
    lag=st.sampled_from([0.0, 20.0, 90.0, 1e9]),
    pool_region=POOL_REGIONS,
    renewed_after=RENEWED_AFTER,
    lacks=LACKS,
)
def test_with_a_launcher_it_runs_once_whatever_happens(  # N2, N3, N7
    faults: dict[str, list[str]],
    starts: list[int | None],
    lag: float,
    pool_region: str,
    renewed_after: int,
    lacks: str,
) -> None:
    service = Service(launcher=True, lag=lag, faults=faults, starts=starts, pool_region=pool_region)
    done = typed_until_it_is_done(service, renewed_after, lacks)
    assert done is not None
    assert len(service.runs) <= 1 and service.ended_runs == []
    service.end_of_days()
    assert len(service.runs) == 1 and service.ended_runs == []
    assert done.attempt.job.labels["slipway-request"] == next(
        job.body["labels"]["slipway-request"] for job in service.jobs if job.id == service.runs[0]
    )


@given(
    faults=st.fixed_dictionaries(
        {
            **dict.fromkeys(("get", "list", "cancel", "take", "read", "catalog"), FAULTS),
            "create": st.lists(st.sampled_from(["", "kill", "busy", "lost"]), max_size=4),
        }
    ),
    starts=STARTS,
    pool_region=POOL_REGIONS,
    renewed_after=RENEWED_AFTER,
    lacks=LACKS,
)
def test_an_image_runs_at_most_once_where_no_list_lags(  # N2, N3, N7
    faults: dict[str, list[str]], starts: list[int | None], pool_region: str, renewed_after: int, lacks: str
) -> None:
    service = Service(launcher=False, faults=faults, starts=starts, pool_region=pool_region)
    done = typed_until_it_is_done(service, renewed_after, lacks)
    assert len(service.runs) <= 1
    if done is None:
        assert service.ended_runs == service.runs and len(service.ended_runs) == 1
        service.end_of_days()
        assert len(service.runs) == 1
    else:
        assert service.ended_runs == []
        service.end_of_days()
        assert len(service.runs) == 1


WAITS_FOR_THE_POOL = SubmissionRequest("digits", waits={"pool": 10.0}, then=("spot",))


@pytest.mark.parametrize("launcher", [True, False])
@pytest.mark.parametrize("renewed", [False, True])
def test_killed_once_it_was_given_up_it_moves_on_after_a_deployment_too(  # N3, N7
    launcher: bool, renewed: bool
) -> None:
    """It said that nothing is sent again, with exit 0, and the job that was left ended one day without having run."""
    service = Service(launcher=launcher, faults={"cancel": ["kill"]}, starts=[None, 0])
    with pytest.raises(Killed):
        command(service, again=False, asked=WAITS_FOR_THE_POOL)
    service.dead = False
    done = command(service, again=True, asked=WAITS_FOR_THE_POOL, renewed=renewed)
    assert (done.attempt.job.id, done.attempt.job.capacity_type) == ("7001", "spot")
    service.end_of_days()
    assert service.runs == ["7001"]


@pytest.mark.parametrize("launcher", [True, False])
@pytest.mark.parametrize("renewed", [False, True])
def test_killed_while_the_next_job_waits_it_stays_with_that_one_after_a_deployment_too(  # N3, N7
    launcher: bool, renewed: bool
) -> None:
    """It said that the job was cancelled, which was the first one, and whoever submitted again had two runs."""
    asked = SubmissionRequest("digits", waits={"pool": 10.0, "spot": 10.0}, then=("on-demand",))
    service = Service(launcher=launcher, faults={"take": ["", "kill"]}, starts=[None, None, None])
    with pytest.raises(Killed):
        command(service, again=False, asked=asked)
    service.dead = False
    service.limit = 0  # Nothing else can run: it stays.
    service.jobs[1].starts_after = 0
    done = command(service, again=True, asked=asked, renewed=renewed)
    assert done.attempt.job.id == "7001"
    service.end_of_days()
    assert service.runs == ["7001"] and len(service.jobs) == 2


@pytest.mark.parametrize("launcher", [True, False])
def test_a_job_that_waits_in_an_earlier_generation_moves_on_as_it_was_asked_to(launcher: bool) -> None:  # N3
    """It said that nothing is sent again, with exit 0, and left the job to wait for ever."""
    service = Service(launcher=launcher, faults={"take": ["kill"]}, starts=[None, 0])
    with pytest.raises(Killed):
        command(service, again=False, asked=WAITS_FOR_THE_POOL)
    service.dead = False
    done = command(service, again=True, asked=WAITS_FOR_THE_POOL, renewed=True)
    assert done.attempt.job.id == "7001"
    service.end_of_days()
    assert service.runs == ["7001"]


def test_given_up_by_an_offer_that_the_template_lost_it_moves_on() -> None:  # N3, N7
    service = Service(launcher=True, faults={"cancel": ["kill"]}, starts=[None, 0])
    with pytest.raises(Killed):
        command(service, again=False)
    service.dead = False
    done = command(service, again=True, lacks="pool")
    assert done.attempt.job.id == "7001"
    service.end_of_days()
    assert service.runs == ["7001"]


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


def test_a_claim_that_storage_does_not_take_is_told_once_and_tried_again() -> None:  # N4
    """It waited on without a word: `looks at spot again in 0:59`, for as long as the service was away."""
    show, service = Told(), Service(launcher=True, starts=[None, 0], faults={"take": ["busy"] * 3})
    asked = SubmissionRequest("digits", waits={"pool": 10.0}, then=("spot",))
    done = command(service, again=False, asked=asked, show=show)
    assert done.attempt.job.id == "7001", "it moved on as soon as it could"
    (note,) = show.notes
    assert "could not be given up" in note
    assert note.endswith("the same command goes on")


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


def test_a_request_is_filled_once_for_each_offer_that_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[tuple[str, str]] = []

    def counted(*args: Any, **named: Any) -> dict[str, Any]:
        filled.append((named["request_id"], args[2].capacity_type))
        return fill(*args, **named)

    monkeypatch.setattr(candidates, "fill", counted)
    command(Service(launcher=True, starts=[1]), again=False)
    assert filled == [("r1", "pool")], "it starts on its first offer: nobody looks at the others"
    filled.clear()
    command(Service(launcher=True, starts=[None, None, 1]), again=False)
    assert len(filled) == len(set(filled)), "judged, sent and waited for with the same body"
    assert {by for _, by in filled} == {"pool", "spot", "on-demand"}
