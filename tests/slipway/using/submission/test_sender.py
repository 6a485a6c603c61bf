"""Sending a request once, whatever a kill or a reboot hides, the journal that survives both, and the step after a
failed request. # N3 # N7 # N9"""

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

import pytest

from slipway.base.errors import AnswerUnknown, SlipwayError
from slipway.google.clusters import PersistentResource
from slipway.google.failures import QUOTA_TOO_SMALL, Answer, CloudError, NoAnswer, Refused, Unreachable, failure
from slipway.google.jobs import VertexJob
from slipway.model.kinds import CUSTOM_JOB, TUNING_JOB, JobKind
from slipway.using.submission.delivery import RetryPolicy, SendState, Step, after
from slipway.using.submission.journal import DamagedEntry, JournalEntry, SubmissionJournal
from slipway.using.submission.request import Request
from slipway.using.submission.sender import Attempt, Sender, about_copies
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submitter import way_on

from .fallback_command import Told, command
from .service import CALL, Context, Journal, Killed, Service

BODY: dict[str, Any] = {
    "displayName": "digits-1",
    "labels": {"slipway-request": "r1", "slipway-stack": "dev", "slipway-template": "digits"},
    "jobSpec": {"workerPoolSpecs": [{"replicaCount": "1", "containerSpec": {"imageUri": "digits@sha256:1"}}]},
}
REQUEST = Request("r1", "dev", "digits", BODY)


def sender(service: Service) -> Sender:
    context, journal = cast(Any, Context(service)), cast(Any, Journal(service))
    return Sender(context, journal, lambda _: None, RetryPolicy(look_for=60.0))


@pytest.mark.parametrize(
    ("before", "after", "lag"),
    [
        pytest.param(100.0, 0.0, 30.0, id="reading pools and quota took long"),
        pytest.param(0.9, 0.3, 59.5, id="the list lags almost as long as is looked for"),
        pytest.param(0.9, 30.0, 59.5, id="the same, and gone on with later"),
    ],
)
def test_killed_after_it_was_sent_an_image_is_not_sent_again(before: float, after: float, lag: float) -> None:
    service = Service(launcher=False, lag=lag, faults={"create": ["killed"]})
    first = sender(service)
    assert first.begin(REQUEST, repeated=True) is None
    service.time += before
    with pytest.raises(Killed):
        first.send(REQUEST)
    service.dead = False
    service.time += after
    attempt = sender(service).begin(REQUEST, repeated=True)
    assert attempt is not None and attempt.job.id == service.jobs[0].id


def test_a_refusal_that_may_pass_is_sent_again_while_the_next_attempt_is_in_time() -> None:
    service = Service(launcher=True, time=500.0, faults={"create": ["later", *["limited"] * 20]})
    sent = sender(service)
    sent.begin(REQUEST, repeated=False)
    with pytest.raises(CloudError):
        sent.send(REQUEST)
    assert service.time == 500.0 + 3 + 6 + 12 + 24 + 30 + 30, "after as many again it would be too late"
    assert service.notes["r1"].state is SendState.REFUSED


IMAGE = {"containerSpec": {"imageUri": "digits@sha256:1"}}
LAUNCHER = {"pythonPackageSpec": {"pythonModule": "slipway_launcher", "args": ["--claim", "gs://w/claims/r1"]}}


@pytest.mark.parametrize(
    ("kind", "task", "twice", "ends"),
    [
        pytest.param(CUSTOM_JOB, LAUNCHER, "only one runs", True, id="launcher"),
        pytest.param(CUSTOM_JOB, IMAGE, "two jobs both run", False, id="image"),
        pytest.param(TUNING_JOB, LAUNCHER, "share the trials out", False, id="trials"),
    ],
)
def test_what_two_jobs_of_a_request_would_do_is_said_as_it_is(
    kind: JobKind, task: dict[str, Any], twice: str, ends: bool
) -> None:  # N7
    """The claims of trials go by their numbers: whichever of two studies is first at a number runs that trial."""
    body = {**BODY, kind.spec: {"workerPoolSpecs": [{"replicaCount": "1", **task}]}}
    request = Request("r1", "dev", "digits", body, kind)
    service = Service(launcher=False, lag=1e9, faults={"create": ["lost"]})
    sent = sender(service)
    sent.begin(request, repeated=False)
    with pytest.raises(AnswerUnknown) as unknown:
        sent.send(request)
    unknown.value.to_go_on("again")
    assert twice in request.when_twice and request.when_twice in unknown.value.fix
    job, copy = VertexJob.read(body, kind), service.jobs[0].name
    warning = about_copies(request, Attempt(job, fresh=False, copies=(copy,)))
    assert request.when_twice in warning and "7000" in warning
    assert ("slipway jobs cancel 7000" in warning) is not ends
    assert about_copies(request, Attempt(job, fresh=True)) == ""


ON_POOL = SubmissionRequest("digits", capacity_type="pool")


@dataclass
class Rebooting(Service):
    """Its pool's machines are free, and its cluster is in this `state`."""

    state: str = "REBOOTING"
    refuses: bool = True

    def persistent_resource(self, cluster: str) -> PersistentResource:
        attempt = super().persistent_resource(cluster)
        return replace(attempt, state=self.state, pools=tuple(replace(pool, used=0) for pool in attempt.pools))

    def create_job(self, kind: JobKind, body: Mapping[str, Any], region: str) -> VertexJob:
        if self.refuses:
            raise failure(CALL, Answer(400, "FAILED_PRECONDITION", f"it is in state {self.state}"))
        return super().create_job(kind, body, region)


def test_a_refusal_says_what_to_wait_for_and_the_same_id_sends_it_then() -> None:
    """A submission ended without a way on."""
    service = Rebooting(launcher=True, starts=[0])
    with pytest.raises(Refused) as refused:
        command(service, again=False, asked=ON_POOL)
    assert refused.value.why == "it is in state REBOOTING"
    assert "cluster cpu is RUNNING" in refused.value.fix
    assert service.notes["r1"].state is SendState.REFUSED

    service.state = "RUNNING"
    with pytest.raises(Refused) as refused:
        command(service, again=True, asked=ON_POOL)
    assert refused.value.fix == Refused.usual, "that does not pass by waiting"
    service.refuses = False
    assert command(service, again=True, asked=ON_POOL).attempt.fresh
    assert len(service.jobs) == 1


def test_machines_of_its_own_that_wait_for_quota_wait_for_no_cluster() -> None:
    show = Told()
    command(Rebooting(launcher=True, refuses=False, starts=[0]), again=False, asked=ON_POOL, show=show)
    on_pool = show.choices[0].taken
    beside = replace(on_pool, candidate=replace(on_pool.candidate, offer=replace(on_pool.candidate.offer, cluster="")))
    refused = failure(CALL, Answer(400, "INVALID_ARGUMENT", "no"))
    assert way_on(refused, on_pool) and not way_on(refused, beside)


ENTRY = JournalEntry("r1", "digits", SendState.SENDING, "2026-11-20T12:00:00+00:00", body={"displayName": "d"})


def test_a_journal_lies_in_the_checkout_else_with_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".git").mkdir(parents=True)
    journal = SubmissionJournal.find(checkout, {}, "p", "dev")
    journal.write(ENTRY)
    assert journal.read("r1") == ENTRY
    assert (checkout / ".slipway" / "requests" / "p" / "dev" / "r1.json").is_file()
    assert (checkout / ".slipway" / ".gitignore").read_text() == "*\n"
    elsewhere = tmp_path / "elsewhere"
    assert SubmissionJournal.find(elsewhere, {"XDG_STATE_HOME": str(elsewhere)}, "p", "dev").read("r1") is None
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    attempt = SubmissionJournal.find(elsewhere, {"XDG_STATE_HOME": "state"}, "p", "dev").folder
    assert attempt == tmp_path / "home" / ".local" / "state" / "slipway" / "requests" / "p" / "dev"


def test_one_process_at_a_time_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, os; from pathlib import Path; from slipway.using.submission.journal import SubmissionJournal\n"
        f"with SubmissionJournal(Path({str(tmp_path)!r})).held('r1'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[4])}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    ) as holder:
        assert holder.stdout and holder.stdout.readline() == b"held\n"
        with pytest.raises(SlipwayError, match="being sent by another process"), SubmissionJournal(tmp_path).held("r1"):
            pass
        with SubmissionJournal(tmp_path).held("r2"):
            pass
        holder.kill()
    with SubmissionJournal(tmp_path).held("r1"):
        pass


def test_two_who_waited_for_the_same_holder_do_not_both_hold_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first opens the file, its holder lets go and takes the file away, the second makes another and locks that."""
    journal, lock = SubmissionJournal(tmp_path), fcntl.flock
    late = journal.held("r1")
    second = SubmissionJournal(tmp_path).held("r1")

    def slowly(stream: IO[str], how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        (tmp_path / "r1.lock").unlink()
        second.__enter__()
        lock(stream, how)

    monkeypatch.setattr(fcntl, "flock", slowly)
    with pytest.raises(SlipwayError, match="being sent by another process"):
        late.__enter__()
    second.__exit__(None, None, None)
    with journal.held("r1"):
        pass


WHOLE = json.dumps(asdict(ENTRY))
DAMAGED = {
    "empty": "",
    "truncated": '{"request_id"',
    "zeros": "\0" * 100,
    "another document": "[]",
    "null": "null",
    "too deep": "[" * 100_000,
    "another request's": WHOLE.replace('"r1"', '"r2"'),
    "no state": WHOLE.replace('"sending"', '"flying"'),
    "no time": WHOLE.replace(ENTRY.when, "soon"),
    "no time zone": WHOLE.replace(ENTRY.when, "2026-11-20T12:00:00"),
    "a later version's": WHOLE.replace('"job"', '"work"'),
    "a job that is no name": WHOLE.replace('"job": ""', '"job": 7'),
    "a body that is no request": WHOLE.replace('{"displayName": "d"}', '"d"'),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_an_entry_that_makes_no_sense_may_be_of_a_request_that_was_sent(tmp_path: Path, damage: str) -> None:
    """It made the same command fail for ever."""
    journal = SubmissionJournal(tmp_path)
    (tmp_path / "r1.json").write_text(DAMAGED[damage])
    damaged(journal, tmp_path / "r1.json")
    journal.write(ENTRY)
    assert journal.read("r1") == ENTRY


def damaged(journal: SubmissionJournal, file: Path) -> None:
    entry = journal.read("r1")
    assert isinstance(entry, DamagedEntry) and entry.error
    assert entry.state is SendState.SENDING and not entry.job and entry.asked is None
    assert entry.error.what == "the journal of request r1 can't be read" and entry.error.why.startswith(f"{file}: ")
    assert datetime.fromisoformat(entry.when).timestamp() == int(file.stat().st_mtime)


def test_a_folder_in_the_place_of_an_entry_is_moved_aside_with_what_it_has(tmp_path: Path) -> None:
    journal = SubmissionJournal(tmp_path)
    (tmp_path / "r1.json").mkdir()
    (tmp_path / "r1.json" / "thesis").write_text("a")
    damaged(journal, tmp_path / "r1.json")
    journal.write(ENTRY)
    assert journal.read("r1") == ENTRY and len(list(tmp_path.glob("r1.json.*/thesis"))) == 1


def test_an_entry_that_may_not_be_read_is_told_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = SubmissionJournal(tmp_path)
    journal.write(ENTRY)

    def refused(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refused)
    damaged(journal, tmp_path / "r1.json")


@pytest.mark.parametrize("claimed", [True, False])
def test_what_a_damaged_entry_hides_is_looked_for_and_sent_where_only_one_job_can_run(claimed: bool) -> None:
    service = Service(launcher=claimed, lag=30.0)
    task = LAUNCHER if claimed else IMAGE
    request = Request("r1", "dev", "digits", {**BODY, "jobSpec": {"workerPoolSpecs": [{"replicaCount": "1", **task}]}})
    sent, damage = sender(service), SlipwayError("the journal can't be read", why="r1.json: no JSON", fix="")

    def hidden() -> None:
        when = service.clock.now().isoformat()
        service.notes["r1"] = DamagedEntry("r1", "", SendState.SENDING, when, error=damage)

    hidden()
    if claimed:
        assert sent.begin(request, repeated=True) is None
    else:
        with pytest.raises(SlipwayError) as refused:
            sent.begin(request, repeated=True)
        assert refused.value is damage
    assert service.time >= 60.0, "a list may lag behind what was sent as the file was written"
    job = sent.send(request).job
    hidden()
    found = sent.begin(request, repeated=True)
    assert found and found.job.name == job.name and len(service.jobs) == 1


def test_nothing_may_be_sent_when_it_could_not_be_written_down_or_locked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    journal = SubmissionJournal(tmp_path / "file")
    with pytest.raises(SlipwayError, match="could not record request r1"):
        journal.write(ENTRY)
    with pytest.raises(SlipwayError, match="could not record request r1"):
        journal.held("r1").__enter__()


def failed(status: int, message: str = "no", retry_after: float | None = None) -> CloudError:
    return failure(CALL, Answer(status, "", message, retry_after=retry_after))


@pytest.mark.parametrize(
    ("problem", "trouble", "step"),
    [
        (failed(429), 0.0, "resend"),
        (failed(503, retry_after=3.0), 119.0, "resend"),
        (failed(503, retry_after=3.0), 121.0, "stop"),
        (Unreachable(CALL), 0.0, "resend"),
        (failed(401), 0.0, "stop"),
        (failed(403), 0.0, "stop"),
        (failed(404), 0.0, "stop"),
        (failed(400), 0.0, "refuse"),
        (failed(429, QUOTA_TOO_SMALL), 0.0, "refuse"),
        (failed(408), 0.0, "look"),
        (failed(503), 0.0, "look"),
        (NoAnswer(CALL, "lost"), 0.0, "look"),
    ],
    ids=str,
)
def test_only_what_is_proven_not_accepted_is_sent_again(problem: CloudError, trouble: float, step: Step) -> None:
    assert after(problem, RetryPolicy(), trouble) is step


def test_without_a_connection_it_is_tried_a_few_times() -> None:
    policy = RetryPolicy(resend_unreachable=3)
    steps = [after(Unreachable(CALL), policy, 0.0, attempts) for attempts in (1, 2, 3)]
    assert steps == ["resend", "resend", "stop"]
