"""Sending a sweep under any order of faults, lost answers, lagging lists, refusals and kills: each run once; and the
look whether the clusters that it sends to are still current."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipway.base.errors import ConfigError, ResourceError, SlipwayError
from slipway.google.failures import CloudError, NoAnswer
from slipway.google.jobs import VertexJob
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import CUSTOM_JOB, TUNING_JOB, JobKind
from slipway.model.labels import REQUEST_LABEL
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.request import Request
from slipway.using.sweeps.catalog_watch import CatalogWatch
from slipway.using.sweeps.runs import Run, known_runs, remaining_runs
from slipway.using.sweeps.sweep_end import Again, problem_of_sending
from slipway.using.sweeps.sweep_journal import SweepHeader, SweepJournal
from slipway.using.sweeps.sweep_sender import SendingProgress, SendingResult, SweepSender
from tests.slipway.using.submission.service import CALL, HOME, Killed
from tests.slipway.using.submission.service import Service as OneService

SWEEP, COUNT = "digits-1", 12


class AtOnce(Executor):
    """Does what it is given before it returns, so that an order of faults is an order."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as problem:
            future.set_exception(problem)
        return future


class Service(OneService):
    """The service as a sweep asks it: each call takes its time. `faults` are those of submissions. While it is `away`
    no list is answered."""

    def __init__(self, faults: Iterable[str] = (), lag: float = 0.0, *, away: bool = False) -> None:
        super().__init__(launcher=True, lag=lag, faults={"create": list(faults)})
        self.away = away

    def send(self, request: Request) -> VertexJob:
        self.time += 0.05
        return self.create_job(request.kind, request.body, HOME)

    def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
        self.time += 0.05
        if self.away:
            raise NoAnswer(CALL, "away")
        wanted = {request.id for request in requests}
        return {job.labels[REQUEST_LABEL]: job.name for job in self.all() if job.labels[REQUEST_LABEL] in wanted}, 1

    def all(self) -> list[VertexJob]:
        return self.jobs_listed("", (HOME,))

    @property
    def sent(self) -> set[str]:
        """The requests that have a job; their launchers let exactly one of each run."""
        return {job.body["labels"][REQUEST_LABEL] for job in self.jobs}


def request(run: Run, *, launcher: bool, regions: tuple[str, ...] = ("",), kind: JobKind = CUSTOM_JOB) -> Request:
    id_ = run.request_id(SWEEP)
    package = {"pythonModule": "slipway_launcher", "args": ["--claim", f"gs://w/claims/{id_}", "--module", "m"]}
    labels = {"slipway-run": run.label, REQUEST_LABEL: id_}
    spec = {"workerPoolSpecs": [{"pythonPackageSpec": package} if launcher else {"containerSpec": {}}]}
    where = regions[run.index % len(regions)]
    return Request(id_, "local", "digits", {"labels": labels, kind.spec: spec}, kind, region=where)


def command(
    service: Service,
    file: Path,
    *,
    launcher: bool = True,
    count: int = COUNT,
    rate: int = 0,
    regions: tuple[str, ...] = ("",),
    kind: JobKind = CUSTOM_JOB,
    outdated: Callable[[float], SlipwayError | None] = lambda _: None,
    made: type[SweepSender] = SweepSender,
) -> SendingResult:
    """The command, typed once."""
    service.dead = False
    with SweepJournal(file) as journal:
        journal.begin(SweepHeader(SWEEP, "digits", "abc", count, "", "", ""))
        left = remaining_runs(count, known_runs(SWEEP, journal.jobs, journal.open, service.all()), retry=False)
        sender = made(
            create=service.send,
            look=service.look,
            request=lambda run: request(run, launcher=launcher, regions=regions, kind=kind),
            journal=journal,
            rate=rate,
            threads=AtOnce(),
            width=8,
            tell=lambda progress: None,
            policy=RetryPolicy(look_for=30.0),
            clock=service.clock,
            outdated=outdated,
        )
        return sender.send(left.send, left.look, SendingProgress(count, left.done))


FAULTS = st.lists(st.sampled_from(["", "", "", "lost", "busy", "later", "limited", "kill", "killed"]), max_size=40)


@given(faults=FAULTS, lag=st.sampled_from([0.0, 10.0, 100.0, 1e9]))
def test_each_run_is_made_and_runs_exactly_once(faults: list[str], lag: float) -> None:  # N7
    service = Service(list(faults), lag)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(len(faults) + 2):
            try:
                done = command(service, Path(folder) / "s.jsonl")
            except Killed:
                continue
            if not done.unknown and not done.stopped:
                break
        else:
            raise AssertionError("it never ended")
        assert service.sent == {Run(index).request_id(SWEEP) for index in range(COUNT)}
        again = command(service, Path(folder) / "s.jsonl")
        assert not again.accepted
    if lag == 0:
        assert len(service.jobs) == COUNT


@given(faults=st.lists(st.sampled_from(["", "lost", "busy", "later", "limited", "kill", "killed"]), max_size=30))
def test_without_a_launcher_no_job_is_made_twice(faults: list[str]) -> None:  # N7
    """What can't be known stays unknown, as nothing would keep a second job from running."""
    service = Service(list(faults), lag=1e9)
    unknown: set[Run] = set()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(len(faults) + 2):
            try:
                unknown = set(command(service, Path(folder) / "s.jsonl", launcher=False).unknown)
                break
            except Killed:
                continue
    assert len(service.jobs) == len(service.sent)
    missing = {Run(index) for index in range(COUNT) if Run(index).request_id(SWEEP) not in service.sent}
    assert missing <= unknown


def test_a_tuning_job_whose_answer_was_lost_is_not_sent_again(tmp_path: Path) -> None:  # N7
    """Its launchers have claims by trial, so that two studies of one run would share its trials out."""
    service = Service(["lost"], lag=1e9)
    done = command(service, tmp_path / "s.jsonl", kind=TUNING_JOB)
    assert done.unknown == [Run(0)] and len(service.jobs) == COUNT
    twice = "two tuning jobs share the trials out"
    jobs = SimpleNamespace(any_request=SimpleNamespace(when_twice=twice))
    sweep = cast(Any, SimpleNamespace(id=SWEEP, result=done, jobs=jobs))
    problem = problem_of_sending(sweep, Again("same", "with --retry-failed", "cancelled"))
    assert problem is not None and problem.exit_code == 75
    assert "with --retry-failed" in problem.fix and twice in problem.fix


def test_the_rate_is_used_whole_and_nothing_is_lost_to_it(tmp_path: Path) -> None:  # N7
    service = Service()
    done = command(service, tmp_path / "s.jsonl", count=25, rate=10)
    assert len(done.accepted) == 25 and 120 <= service.time < 126


def test_each_region_has_a_rate_of_its_own(tmp_path: Path) -> None:  # N2, N7
    service = Service()
    done = command(service, tmp_path / "s.jsonl", count=25, rate=10, regions=("us-central1", "europe-west4"))
    assert len(done.accepted) == 25 and 60 <= service.time < 66, "13 in one of them and 12 in the other"


def test_what_the_service_refuses_is_told_and_the_rest_is_sent(tmp_path: Path) -> None:
    done = command(Service(["", "refused", "", "small"]), tmp_path / "s.jsonl")
    assert len(done.accepted) == COUNT - 2 and not done.stopped
    assert {run.index for run in done.refused} == {1, 3}


def test_when_everything_is_refused_it_stops(tmp_path: Path) -> None:
    service = Service(["refused"] * 40)
    done = command(service, tmp_path / "s.jsonl", count=40)
    assert isinstance(done.stopped, CloudError) and done.stopped.message == "no such machine"
    assert len(done.refused) < 20 and not service.jobs
    assert len(command(Service(), tmp_path / "s.jsonl", count=40).accepted) == 40


def test_without_the_role_it_stops_at_once_and_goes_on_later(tmp_path: Path) -> None:
    done = command(Service(["", "denied"]), tmp_path / "s.jsonl")
    assert isinstance(done.stopped, CloudError) and done.stopped.exit_code == 3
    again = Service()
    assert len(command(again, tmp_path / "s.jsonl").accepted) == COUNT - len(done.accepted)


@pytest.mark.parametrize("at", range(1, 9))
def test_interrupted_as_an_answer_is_taken_nothing_that_was_accepted_is_forgotten(tmp_path: Path, at: int) -> None:
    """Ctrl-C may come at any moment."""  # N7

    class Interrupted(SweepSender):
        taken = 0

        def _answered(self, *words: Any) -> None:
            self.taken += 1
            if self.taken == at:
                raise KeyboardInterrupt
            super()._answered(*words)

    service = Service()
    done = command(service, tmp_path / "s.jsonl", made=Interrupted)
    assert done.interrupted and len(done.accepted) == len(service.jobs) < COUNT
    again = command(service, tmp_path / "s.jsonl")
    assert not again.interrupted and len(done.accepted) + len(again.accepted) == len(service.jobs) == COUNT


def test_a_job_of_another_sweep_under_the_id_of_a_lost_run_stops_it(tmp_path: Path) -> None:  # N7
    """Somebody sends other points by the same name from another machine."""

    class Mixed(Service):
        def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
            raise ConfigError("sweep digits-1 was begun with other runs", fix="name it")

    service = Mixed(["", "", "lost"])
    done = command(service, tmp_path / "s.jsonl", rate=3)
    assert isinstance(done.stopped, ConfigError) and len(done.accepted) == 2 and len(service.jobs) == 3


def test_when_nothing_answers_any_more_it_stops_and_the_same_command_goes_on(tmp_path: Path) -> None:  # N2 # N7
    """All have been sent and their answers lost, so nothing is left to send: what is looked for can't be listed."""
    service = Service(["lost"] * COUNT, away=True)
    done = command(service, tmp_path / "s.jsonl")
    assert isinstance(done.stopped, NoAnswer) and not done.unknown
    assert 100 < service.time < 200
    service.away = False
    assert not command(service, tmp_path / "s.jsonl").stopped
    assert len(service.jobs) == COUNT


@settings(max_examples=30, deadline=None)
@given(faults=FAULTS, after=st.integers(0, 40))
def test_stopped_by_a_deployment_the_same_command_sends_the_rest_once(faults: list[str], after: int) -> None:  # N2, N7
    service, looks = Service(list(faults)), 0

    def outdated(_: float) -> SlipwayError | None:
        nonlocal looks
        looks += 1
        return ResourceError("cluster cpu was replaced", fix="again") if looks > after else None

    with tempfile.TemporaryDirectory() as folder:
        file, stopped = Path(folder) / "s.jsonl", None
        with contextlib.suppress(Killed):
            stopped = command(service, file, outdated=outdated).stopped
        assert stopped is None or stopped.what == "cluster cpu was replaced"
        for _ in range(len(faults) + 1):
            with contextlib.suppress(Killed):
                command(service, file)
    assert service.sent == {Run(index).request_id(SWEEP) for index in range(COUNT)}
    assert len(service.jobs) == COUNT


DEPLOYED = Catalog("local", "p", "us-central1", "", False, "w", "t", {"cpu": Cluster("cpu", (), id="cpu-1")}, (), {})
ROLLED_OVER = replace(DEPLOYED, clusters={"cpu": Cluster("cpu", (), id="cpu-2")})
GONE = replace(DEPLOYED, clusters={})
LOST = NoAnswer(CALL, "lost")


class Bucket:
    """Answers with one after the other, the last for ever."""

    def __init__(self, *answers: Catalog | Exception) -> None:
        self._answers, self.asked = list(answers), 0

    def read(self) -> Catalog:
        self.asked += 1
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def watch(bucket: Bucket, *clusters: str) -> CatalogWatch:
    return CatalogWatch(bucket.read, dict.fromkeys(clusters, "cpu-1"), AtOnce(), 0.0)


def test_it_is_read_once_a_minute_and_only_where_runs_go_to_a_cluster() -> None:
    bucket, beside = Bucket(DEPLOYED), Bucket(DEPLOYED)
    one, other = watch(bucket, "cpu"), watch(beside)
    for second in range(0, 301, 5):
        assert one.problem(float(second)) is None and other.problem(float(second)) is None
    assert (bucket.asked, beside.asked) == (5, 0), "and not in the first minute: a short sweep reads nothing more"


def test_a_cluster_that_was_replaced_is_told_with_its_successor() -> None:  # N2
    for answer, said, then in (
        (ROLLED_OVER, "cluster cpu was replaced while the sweep was being sent", "cpu-2"),
        (GONE, "cluster cpu left the catalog while the sweep was being sent", "none of that name"),
    ):
        problem = watch(Bucket(answer), "cpu").problem(60.0)
        assert problem is not None and problem.exit_code == 4 and problem.what == said and then in problem.why


def test_without_an_answer_it_goes_on_for_a_while_and_then_stops() -> None:  # N2
    bucket = Bucket(LOST, LOST, DEPLOYED, LOST)
    watched = watch(bucket, "cpu")
    assert [watched.problem(at) for at in (60.0, 65.0, 70.0, 80.0, 100.0)] == [None] * 5 and bucket.asked == 3
    told = {at: watched.problem(float(at)) for at in range(140, 240, 10)}
    assert [at for at, problem in told.items() if problem] == [200, 210, 220, 230], "two minutes after the last answer"
    assert isinstance(told[200], ResourceError) and told[200].why == "lost"


def test_a_catalog_that_is_taken_away_stops_it_at_once() -> None:
    problem = watch(Bucket(ConfigError("no catalog at gs://c/catalog.json", fix="pulumi up")), "cpu").problem(60.0)
    assert isinstance(problem, ResourceError) and problem.exit_code == 4
    assert problem.why == "no catalog at gs://c/catalog.json" and problem.fix.startswith("pulumi up\nthe same command")
