"""What can't be read is neither free nor out of reach: nobody loses a place in a queue for it. # N3"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from slipway.google.clusters import PersistentResource
from slipway.google.failures import Answer, CloudError, Unreachable, failure
from slipway.google.jobs import VertexJob
from slipway.model.kinds import JobKind
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.choice import JudgedCandidate, choose, obstacle
from slipway.using.submission.submission_request import SubmissionRequest
from tests.builders.pools import HEAD

from .conftest import job
from .fallback_command import Told, command
from .service import CALL, HOME, Job, Service
from .test_choice import BUSY, FINE, judged

AWAY = "europe-west4"
CPUS, DISKS = "custom_model_training_cpus", "custom_model_training_pd_ssd"
IDS = {CPUS: "CustomModelTrainingCPUsPerProjectPerRegion", DISKS: "CustomModelTrainingPdSsdPerProjectPerRegion"}
UNREAD = Verdict(Outcome.UNKNOWN, "cannot tell whether it starts now: busy")
GUESSED = Verdict(Outcome.BESIDE, "spot: cannot tell whether quota suffices", unread=True)


@dataclass
class Silent(Service):
    """Its pool's region does not answer for so many `looks`; then the pool is free."""

    looks: int = 10**9
    problem: Callable[[], CloudError] = lambda: failure(CALL, Answer(503, "UNAVAILABLE", "busy"))

    def persistent_resource(self, cluster: str) -> PersistentResource:
        self.looks -= 1
        if self.looks >= 0:
            raise self.problem()
        found = super().persistent_resource(cluster)
        return replace(found, pools=tuple(replace(pool, used=0) for pool in found.pools))

    def persistent_resources(self) -> tuple[PersistentResource, ...]:
        return ()


def nothing_answers() -> CloudError:
    return Unreachable(CALL, "nothing answers there")


def there(candidate: JudgedCandidate, region: str) -> JudgedCandidate:
    return replace(candidate, candidate=replace(candidate.candidate, region=region))


@pytest.mark.parametrize("problem", [Silent.problem, nothing_answers])
def test_a_waiting_job_is_not_given_up_for_a_pool_that_nobody_can_look_at(problem: Callable[[], CloudError]) -> None:
    """It was claimed and cancelled, and the pool's region took no job: nothing ran, exit code 75."""
    show = Told()
    service = Silent(launcher=True, starts=[None, 0], pool_region=AWAY, looks=5, problem=problem)
    asked = SubmissionRequest("digits", waits={"spot": 60.0}, then=("pool",))
    done = command(service, again=False, asked=asked, show=show)
    assert [job.region for job in service.jobs] == [HOME, AWAY] and done.attempt.job.id == "7001"
    assert service.jobs[0].ended is not None and service.jobs[0].ended > 60 + 3 * 60, "it stayed for that long"
    (note,) = show.notes
    first, why = note.splitlines()
    assert "sure to run now" in first
    assert why.startswith("  cannot tell")


def test_a_job_goes_to_a_region_that_answers() -> None:
    """docs/scarce-machines.md promises it. The first offer was taken, and nothing was sent."""
    show, service = Told(), Silent(launcher=True, starts=[1], pool_region=AWAY)
    command(service, again=False, asked=SubmissionRequest("digits"), show=show)
    assert [job.region for job in service.jobs] == [HOME]
    (choice,) = show.choices
    assert choice.taken.candidate.label == "spot"
    (passed,) = choice.passed
    assert passed.reasons[0].startswith("cannot tell")


@pytest.mark.parametrize(
    ("offers", "taken"),
    [
        ([("pool", UNREAD, AWAY), ("spot", FINE, HOME)], "spot"),
        # What is in the same region would not be taken there either, so the order counts.
        ([("pool", UNREAD, HOME), ("spot", FINE, HOME)], "pool"),
        # Nothing is known to be better.
        ([("pool", UNREAD, AWAY), ("spot", GUESSED, HOME)], "pool"),
        ([("pool", UNREAD, AWAY), ("spot", BUSY, HOME)], "pool"),
        ([("spot", BUSY, HOME), ("pool", UNREAD, AWAY)], "pool"),
        ([("spot", GUESSED, HOME), ("x", FINE, AWAY)], "spot"),
    ],
)
def test_which_is_taken_where_some_cannot_be_read(offers: list[tuple[str, Verdict, str]], taken: str) -> None:
    choice = choose("t", [there(judged(name, verdict), region) for name, verdict, region in offers])
    assert choice.taken.candidate.offer.capacity_type == taken
    before = [name for name, _, _ in offers][: [name for name, _, _ in offers].index(taken)]
    assert [candidate.candidate.offer.capacity_type for candidate in choice.passed] == before


def test_a_planned_wait_where_something_answers_comes_before_what_nobody_can_look_at() -> None:
    queue = there(judged("spot", BUSY, wait=1800.0), HOME)
    away = there(judged("pool", UNREAD, wait=1800.0), AWAY)
    assert choose("t", [away, queue]).taken is queue
    assert choose("t", [there(away, HOME), queue]).taken.candidate.offer.capacity_type == "pool"


@dataclass
class Crowded(Service):
    """In its region, newest first, so many jobs are queued and so many run on Spot machines of 8 vCPUs."""

    queued: int = 0
    spot: int = 0

    def active_jobs(self, kind: JobKind, filter: str = "") -> Iterator[VertexJob]:
        if "QUEUED" not in filter:
            yield from (job(f"queued-{number}", machine=HEAD, minutes=None) for number in range(self.queued))
        yield from (job(f"spot-{number}", on="", strategy="SPOT") for number in range(self.spot))


@pytest.mark.parametrize(
    ("queued", "spot", "limit", "said"),
    [
        (1000, 3, 27, "waits for preemptible quota: 4 vCPUs needed, 24 of 27 used"),
        (1000, 3, 28, "quota suffices, machines are not promised"),
        (0, 120, 803, "waits for preemptible quota: 4 vCPUs needed, at least 800 of 803 used"),
        (0, 120, 804, "cannot tell whether quota suffices: the limits do, what is in use was not all counted"),
    ],
)
def test_quota_in_use_is_counted_from_the_jobs_that_run(queued: int, spot: int, limit: int, said: str) -> None:  # N9
    """A sweep's queued runs pushed those that run off the page: `quota suffices` where nothing was left of it."""
    service = Crowded(launcher=True, starts=[1], limit=limit, queued=queued, spot=spot, listed={DISKS: -1}, ids=IDS)
    show = Told()
    command(service, again=False, asked=SubmissionRequest("digits", capacity_type="spot"), show=show)
    (choice,) = show.choices
    assert said in choice.taken.verdict.text


@pytest.mark.parametrize(("limit", "moves"), [(963, False), (964, True)])
def test_who_waits_reads_all_of_them(limit: int, moves: bool) -> None:
    """Else nobody would ever move on to Spot where more than a hundred jobs run."""
    service = Crowded(launcher=True, starts=[400, 0], limit=limit, spot=120)
    asked = SubmissionRequest("digits", waits={"pool": 60.0}, then=("spot",))
    assert command(service, again=False, asked=asked).attempt.job.id == ("7001" if moves else "7000")


@pytest.mark.parametrize(("queued", "known"), [(99, 99), (100, None)])
def test_a_queue_that_may_go_on_beyond_the_page_is_not_known(queued: int, known: int | None) -> None:  # N3
    """The longest queue was taken for the shortest: those before the newest hundred jobs were not on the page."""
    show, service = Told(), Crowded(launcher=True, starts=[1], queued=queued)
    command(service, again=False, asked=SubmissionRequest("digits", capacity_type="pool"), show=show)
    assert show.choices[0].taken.verdict.queue == known


DEMAND = SubmissionRequest("digits", waits={"pool": 60.0}, then=("on-demand",))


@pytest.mark.parametrize(
    ("limits", "moves"),
    [
        ({CPUS: 200}, True),
        ({CPUS: 200, DISKS: 99}, False),
        ({}, True),
    ],
)
def test_a_place_in_a_queue_is_not_given_up_for_quota_that_only_the_list_of_all_tells(  # N3, P5
    limits: dict[str, int], moves: bool
) -> None:
    """No id is known of quota for CPUs and disks on demand, so it was not read, and the service then refused the job
    that the place in the queue had been given up for."""
    service, show = Service(launcher=True, starts=[400, 0], listed=limits), Told()
    done = command(service, again=False, asked=DEMAND, show=show)
    assert done.attempt.job.id == ("7001" if moves else "7000")
    assert any("needs " in note for note in show.notes) is not moves


@pytest.mark.parametrize(
    ("disks", "said"),
    [(75_000, "; quota suffices, machines are not promised"), (199, "100 PD SSD GB needed, 100 of 199 used")],
)
def test_the_ids_of_the_catalog_let_each_submission_read_all_that_it_draws(disks: int, said: str) -> None:  # P5, N3
    """No id is known of them by a pattern. The list of all quotas is not read for it."""
    listed = {CPUS: 2200, DISKS: disks}
    service = Service(launcher=True, starts=[0], listed=listed, ids=IDS, faults={"quotas": ["killed"]})
    show = Told()
    command(service, again=False, asked=SubmissionRequest("digits", capacity_type="on-demand"), show=show)
    (choice,) = show.choices
    assert choice.taken.verdict.text.endswith(said)
    assert service.faults["quotas"] == ["killed"]


def test_it_stays_where_the_list_of_quota_does_not_answer_and_the_last_deployment_found_too_little() -> None:  # N3
    service, show = Service(launcher=True, starts=[400, 0], faults={"quotas": ["busy"] * 99}), Told()
    done = command(service, again=False, asked=DEMAND, show=show, without_quota="on-demand")
    assert done.attempt.job.id == "7000"
    assert any("short by 3 (at the" in note for note in show.notes)


@pytest.mark.parametrize(("limit", "taken", "left"), [(1000, "spot", ["unread"]), (1, "on-demand", [])])
def test_nor_where_another_offer_is_taken_than_the_one_that_lacked_quota(  # N3
    limit: int, taken: str, left: list[str]
) -> None:
    """Each `submit` waited for the pages of all quotas where any of its offers had lacked some when it was deployed."""
    show = Told()
    listed = {"custom_model_training_cpus": 200}
    service = Service(launcher=True, starts=[0], limit=limit, listed=listed, faults={"quotas": ["unread"]})
    asked = SubmissionRequest("digits")
    command(service, again=False, asked=asked, show=show, lacks="pool", without_quota="on-demand")
    assert show.choices[0].taken.candidate.offer.capacity_type == taken
    assert service.faults["quotas"] == left


SPOT_THEN_POOL = SubmissionRequest("digits", waits={"spot": 600.0}, then=("pool",))


@dataclass
class StockedOut(Silent):
    """The first job ends without machines when it is looked at, after so many `seconds`."""

    looks: int = 0
    state: str = "JOB_STATE_FAILED"
    seconds: float = 0.0

    def _pass(self, job: Job) -> None:
        if job is not self.jobs[0]:
            super()._pass(job)
        elif job.ended is None and self.time >= self.seconds:
            job.state, job.ended = self.state, self.time
            job.body = {**job.body, "error": {"code": 8, "message": "Resources are insufficient in region"}}


@pytest.mark.parametrize("state", ["JOB_STATE_FAILED", "JOB_STATE_EXPIRED"])
@pytest.mark.parametrize("launcher", [True, False])
def test_while_the_other_cannot_be_looked_at_it_is_asked_again(launcher: bool, state: str) -> None:  # N3
    """The submission ended with exit code 4 and was forgotten; it was told that the job, which had ended, stays."""
    show, service = Told(), StockedOut(launcher=launcher, starts=[None, 0], looks=3, state=state)
    done = command(service, again=False, asked=SPOT_THEN_POOL, show=show)
    service.end_of_days()
    assert done.attempt.job.id == "7001" and service.runs == ["7001"]
    (note,) = show.notes
    name = service.jobs[0].body["displayName"]
    assert name in note and "looked at again every minute" in note
    assert service.jobs[1].created == 120, "it was looked at three times"


@pytest.mark.parametrize("fault", ["catalog", "take"])
@pytest.mark.parametrize("launcher", [True, False])
def test_nor_does_a_catalog_or_a_claim_that_fails_for_a_moment_end_it(fault: str, launcher: bool) -> None:  # N3
    show, service = Told(), StockedOut(launcher=launcher, starts=[None, 0], faults={fault: ["busy", "busy"]})
    done = command(service, again=False, asked=SPOT_THEN_POOL, show=show)
    service.end_of_days()
    assert done.attempt.job.id == "7001" and service.runs == ["7001"]
    (note,) = show.notes
    assert ("looked at again" if fault == "catalog" else "could not be given up") in note and "stays" not in note


def test_after_an_hour_without_an_answer_it_is_the_end() -> None:  # N3
    show, service = Told(), StockedOut(launcher=True, starts=[None, 0], looks=10**9)
    assert command(service, again=False, asked=SPOT_THEN_POOL, show=show).attempt.job.id == "7000"
    assert 3600 <= service.time < 3700 and len(show.notes) == 1 and len(service.jobs) == 1


def denied() -> CloudError:
    return failure(CALL, Answer(403, "PERMISSION_DENIED", "may not read cluster cpu-1"))


@pytest.mark.parametrize(
    "service",
    [
        StockedOut(launcher=True, starts=[None, 0], looks=10**9, problem=denied),
        StockedOut(launcher=True, starts=[None, 0], faults={"catalog": ["denied"]}),
    ],
    ids=["pool", "catalog"],
)
def test_where_the_others_may_not_be_read_it_is_the_end_at_once(service: StockedOut) -> None:  # N3
    """The stock-out was told an hour late: whoever lacks a role lacks it with each look."""
    show = Told()
    assert command(service, again=False, asked=SPOT_THEN_POOL, show=show).attempt.job.id == "7000"
    (note,) = show.notes
    name = service.jobs[0].body["displayName"]
    first = note.splitlines()[0]
    assert name in first and first.endswith("was not moved on")
    assert service.time < 60


def test_where_one_of_the_others_may_not_be_read_and_one_can_not_just_then_it_is_asked_again() -> None:  # N3
    may_not = JudgedCandidate(judged("pool", UNREAD).candidate, replace(UNREAD, barred=True))
    just_then = judged("spot", UNREAD)
    for judging, unread, again in (
        ([may_not], True, False),
        ([just_then], True, True),
        ([may_not, just_then], True, True),
        ([may_not, judged("spot", BUSY)], True, False),
        ([judged("spot", BUSY)], False, False),
    ):
        found = obstacle(judging, [])
        assert found and (found.unread, found.again) == (unread, again)


def test_the_others_are_looked_at_when_it_ends_also_where_that_was_done_a_moment_ago() -> None:  # N3
    """Its wait had run out, the pool could not be read, and it ended before the next look: nothing was looked at."""
    asked = SubmissionRequest("digits", waits={"spot": 10.0}, then=("pool",))
    service = StockedOut(launcher=True, starts=[None, 0], looks=1, seconds=20.0)
    done = command(service, again=False, asked=asked)
    assert done.attempt.job.id == "7001" and service.jobs[1].created < 60
