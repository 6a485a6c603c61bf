"""Whom a submission's record names is told how the job goes, each event once, and nothing of that fails the job. # N30

With the launcher as a process, a room that is a real HTTP server, and the storage and secrets of the local cloud.
"""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.authoring.packages import slipway_launcher as launcher
from slipway.authoring.packages import slipway_notify as notify
from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_notify import CRASHED, FAILED, STARTED, SUCCEEDED, after, message, private, tell
from tests import loopback
from tests.checkouts.shell import wait_for
from tests.room import Room, a_room

from .conftest import EMAIL, PROJECT, Between, Bucket
from .test_slipway_launcher import Replica, refers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.local.conftest import LocalCloud

FACTS = {"job": "digits-7k2p3f9a", "stack": "prod", "template": "digits", "user": "ada"}
WORKER = json.dumps({"task": {"type": "workerpool1", "index": 0}})
SECOND = json.dumps({"cluster": {"workerpool1": ["a", "b"]}, "task": {"type": "workerpool1", "index": 1}})


@dataclass
class Notified:
    """A replica whose submission asks for notifications."""

    replica: Replica
    room: Room
    secret: str
    folder: Path
    retries: int | None = None

    def runs(self, request: str, program: str, sent: float = 0.0, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the program as the job that was sent so many seconds ago."""
        (self.folder / "work.py").write_text(program)
        self.replica.environ.update(environ)
        record = {**FACTS, "roles": ["chief", "helper"], "secret": self.secret, "sent": time.time() - sent}
        if self.retries is not None:
            record["retries"] = self.retries
        self.replica.environ[launcher.NOTIFICATION] = json.dumps(record)
        done = self.replica.start(request, "11")
        assert self.room.url not in done.stdout + done.stderr and "s3cr3t" not in done.stdout + done.stderr
        return done


@pytest.fixture
def room() -> Iterator[Room]:
    with a_room() as made:
        yield made


@pytest.fixture
def notified(
    server: Between, bucket: Bucket, tmp_path: Path, cloud: LocalCloud, room: Room, request: pytest.FixtureRequest
) -> Notified:
    replica, name = Replica(server, tmp_path, bucket), request.node.name
    reference = new_secret(cloud, name, f"{room.url}\n")
    refers(replica, name)
    del replica.environ["HF_TOKEN__SECRET"]
    return Notified(replica, room, reference, tmp_path)


def new_secret(cloud: LocalCloud, name: str, value: str) -> str:
    cloud.rest("POST", f"/v1/projects/{PROJECT}/secrets?secretId={name}", {"replication": {"automatic": {}}})
    data = base64.b64encode(value.encode()).decode()
    cloud.rest("POST", f"/v1/projects/{PROJECT}/secrets/{name}:addVersion", {"payload": {"data": data}})
    return f"projects/{PROJECT}/secrets/{name}/versions/latest"


def events(room: Room) -> list[tuple[str, str]]:
    return [(body["event"], body["why"]) for body in room.bodies]


def test_a_job_that_succeeds_says_so_once_and_not_again_when_it_is_started_again(notified: Notified) -> None:
    done = notified.runs("well", "import os; print('runs', os.environ.get('SLIPWAY_NOTIFY'))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "runs None\n", "")
    text = "digits-7k2p3f9a of stack prod (ada) succeeded\nslipway jobs show digits-7k2p3f9a"
    assert notified.room.bodies == [{**FACTS, "event": SUCCEEDED, "why": "", "text": text}]
    assert notified.runs("well", "print('again')").stdout == "again\n" and len(notified.room.bodies) == 1


def test_a_job_that_fails_says_the_last_line_of_its_errors_and_keeps_writing_them(notified: Notified) -> None:
    done = notified.runs("badly", "import sys; print('x', file=sys.stderr); raise ValueError('no such data')")
    assert done.returncode == 1 and done.stderr.startswith("x\nTraceback") and "ValueError: no such data" in done.stderr
    assert events(notified.room) == [(FAILED, "ValueError: no such data (chief)")]
    assert notified.runs("quietly", "raise SystemExit(3)").returncode == 3
    assert events(notified.room)[1] == (FAILED, "exit code 3 (chief)")
    notified.runs("killed", "import os; os.kill(os.getpid(), 9)")
    assert events(notified.room)[2] == (FAILED, "killed, most likely out of memory (chief)")


def test_a_long_wait_is_told_with_the_start_before_the_end(notified: Notified) -> None:
    notified.runs("late", "print('runs')", sent=840)
    assert events(notified.room) == [(STARTED, "after 14 min"), (SUCCEEDED, "")]
    assert notified.room.texts[0].startswith("digits-7k2p3f9a of stack prod (ada) started after 14 min\n")
    notified.runs("late", "print('runs')", sent=900)
    assert len(notified.room.bodies) == 2


def test_a_helper_tells_its_failure_alone(notified: Notified) -> None:
    notified.runs("helper", "print('well')", CLUSTER_SPEC=WORKER)
    assert notified.room.bodies == []
    notified.runs("helper", "raise OSError('disk full')", CLUSTER_SPEC=WORKER)
    assert events(notified.room) == [(FAILED, "OSError: disk full (helper)")]
    notified.runs("second", "raise OSError('disk full')", CLUSTER_SPEC=SECOND)
    assert events(notified.room)[1] == (FAILED, "OSError: disk full (helper-1)"), "as the log names it"


ABORTS = "import os, sys; print('terminate called', file=sys.stderr, flush=True); os.abort()"


def test_a_crash_is_told_once_and_the_last_that_vertex_starts_again_is_a_failure(notified: Notified) -> None:
    """The service tries such a job three times more (vertex-rules 3.4); nobody was told of its end."""
    again = "SIGABRT: terminate called (chief); Vertex AI starts it again"
    for _ in range(3):
        assert notified.runs("aborts", ABORTS).returncode == 134
        assert events(notified.room) == [(CRASHED, again)]
    notified.runs("aborts", ABORTS)
    assert events(notified.room)[1:] == [(FAILED, "SIGABRT: terminate called (chief)")]


def test_a_crash_that_a_new_start_mends_is_followed_by_its_success(notified: Notified) -> None:
    notified.runs("mended", "import os; os.kill(os.getpid(), 11)")
    notified.runs("mended", "print('well')")
    assert events(notified.room) == [(CRASHED, "SIGSEGV (chief); Vertex AI starts it again"), (SUCCEEDED, "")]


def test_replicas_that_crash_together_are_each_counted_by_themselves(notified: Notified) -> None:
    for spec in (WORKER, SECOND, "{}"):
        notified.runs("together", ABORTS, CLUSTER_SPEC=spec)
        notified.runs("together", ABORTS, CLUSTER_SPEC=spec)
    assert [event for event, _ in events(notified.room)] == [CRASHED]


def test_a_crash_is_the_end_where_retries_are_disabled(notified: Notified) -> None:
    notified.retries = 0
    notified.runs("once", ABORTS)
    assert events(notified.room) == [(FAILED, "SIGABRT: terminate called (chief)")]


@pytest.mark.parametrize(
    ("code", "line", "why"),
    [
        (1, "ValueError: x", "ValueError: x"),
        (3, "", "exit code 3"),
        (6, "", "exit code 6"),
        (137, "Killed", "killed, most likely out of memory"),
        (135, "worker", "SIGBUS, most likely out of shared memory: worker"),
        (135, "", "SIGBUS, most likely out of shared memory"),
        (136, "at step 7", "SIGFPE: at step 7"),
        (143, "", "SIGTERM"),
        (255, "", "exit code 255"),
    ],
)
def test_a_failure_s_reason_names_the_signal(code: int, line: str, why: str) -> None:
    assert notify.reason(code, line) == why


def test_the_last_line_with_a_word_is_told(notified: Notified) -> None:
    """torchrun ends its report with a line of equals signs."""
    report = "traceback : Signal 6 (SIGABRT) received by PID 7\n====="
    notified.runs("torchrun", f"import sys; print({report!r}, file=sys.stderr); sys.exit(1)")
    assert events(notified.room) == [(FAILED, "traceback : Signal 6 (SIGABRT) received by PID 7 (chief)")]


def ends(read: Callable[[str], str], asks: Mapping[str, object], code: int, room: Room) -> list[str]:
    """Return what a job's log has of its end, where the secret is read so."""
    said: list[str] = []
    listed = ["gs://work/claims/of-sweeps/s/ended/1-failed"]
    record = json.dumps({**FACTS, "secret": "projects/p/secrets/s", **asks})
    teller = notify.Teller(record, "gs://work/claims/r1", read, lambda mark: True, said.append, lambda _: listed)
    teller.ended(code, "", "chief", chief=True)
    return said


@pytest.mark.parametrize("code", [0, 1, 134])
def test_a_slow_secret_manager_holds_up_no_machine_for_long_and_the_log_says_so(
    code: int, monkeypatch: pytest.MonkeyPatch, room: Room
) -> None:
    monkeypatch.setattr(notify, "END_S", 0.1)
    never = threading.Event()
    (said,) = ends(lambda _: str(never.wait()), {}, code, room)
    assert said.startswith("nobody may have been told that it ") and "Secret Manager" in said and room.bodies == []
    never.set()


def test_a_sweeps_last_failed_run_tells_its_end_while_its_failure_is_told_slowly(
    monkeypatch: pytest.MonkeyPatch, room: Room
) -> None:
    """Both one after the other took twice as long as the page says."""
    monkeypatch.setattr(notify, "END_S", 6.0)
    first = threading.Event()

    def read(reference: str) -> str:
        if not first.is_set():
            first.set()
            wait_for(lambda: room.bodies, "the end is told")
        return room.url

    assert ends(read, {"sweep": "s", "run": "1", "runs": "1"}, 1, room) == []
    assert events(room) == [(notify.ENDED, "0 of 1 runs succeeded, 1 failed"), (FAILED, "exit code 1 (chief)")]
    assert [body.get("run") for body in room.bodies] == [None, "1"]


def test_a_job_that_the_service_stops_has_not_failed_yet(notified: Notified) -> None:
    (notified.folder / "work.py").write_text("import time; print('runs', flush=True); time.sleep(600)")
    command = [sys.executable, "-m", "slipway_launcher", "--claim", notified.replica.claim("gone"), "--module", "work"]
    environ = {**notified.replica.environ, "CLOUD_ML_JOB_ID": "11"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as going:
        assert going.stdout and going.stdout.readline() == b"runs\n"
        going.terminate()
    assert going.returncode == 143 and notified.room.bodies == []


def test_what_keeps_the_code_from_starting_is_told(notified: Notified) -> None:
    missing = f"projects/{PROJECT}/secrets/nowhere/versions/latest"
    done = notified.runs("stopped", "print('never')", HF_TOKEN__SECRET=missing)
    assert done.returncode == launcher.CANNOT_TELL and "never" not in done.stdout
    ((event, why),) = events(notified.room)
    assert event == FAILED and why.endswith(" (chief)")
    assert f"a secret of this job can't be read, so the job does not start: {missing}: HTTP 404: " in why


def test_a_value_of_a_secret_is_in_no_message(notified: Notified, cloud: LocalCloud) -> None:
    token = new_secret(cloud, "leaked", "hf_abc=\n")
    notified.runs("leaks", "import os; raise ValueError('of ' + os.environ['HF'])", HF__SECRET=token)
    assert events(notified.room) == [(FAILED, "ValueError: of … (chief)")]
    key = new_secret(cloud, "key", "hf_abc=def\npassword = xyz")  # A message has the last line alone.
    notified.runs(
        "half", "import os, sys; sys.exit('hf_abc=def ' + os.environ['KEY'])", HF__SECRET=token, KEY__SECRET=key
    )
    notified.runs("last", "raise ValueError('hf_abc=def')")
    assert [why for _, why in events(notified.room)[1:]] == ["… (chief)", "ValueError: … (chief)"]


def test_a_key_that_is_taken_for_a_file_is_in_no_message(notified: Notified, cloud: LocalCloud) -> None:
    """An error quotes it with two backslashes for one, which is not the secret's line: a private key was told."""
    text = json.dumps({"type": "service_account", "private_key": "-----BEGIN\nMIIEvQIB\n"}, indent=2)
    key = new_secret(cloud, "account", text)
    notified.runs("as-file", "import os; open(os.environ['KEY'])", KEY__SECRET=key)
    ((event, why),) = events(notified.room)
    assert event == FAILED and "No such file" in why and "MIIEvQIB" not in why


def test_a_token_in_an_address_is_in_no_message(notified: Notified, cloud: LocalCloud) -> None:
    """An address has it with %2B for a plus: a query's token was told."""
    token = new_secret(cloud, "query", "abc+def/ghi==")
    program = "import os, sys, urllib.parse as u; sys.exit('GET /?' + u.urlencode({'key': os.environ['KEY']}))"
    notified.runs("query", program, KEY__SECRET=token)
    assert events(notified.room) == [(FAILED, "GET /?key=… (chief)")]


def test_a_secret_within_a_long_line_is_in_no_message(notified: Notified, cloud: LocalCloud) -> None:
    """A line's last 4096 bytes began within the secret, whose rest was told."""
    token = new_secret(cloud, "long", "hf_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    program = "import os, sys; sys.exit(f\"token {os.environ['HF']}; body {'y' * (4096 - 15)}\")"
    notified.runs("long", program, HF__SECRET=token)
    ((event, why),) = events(notified.room)
    assert event == FAILED and why.startswith("token …; body yyy") and "XYZ" not in why


def test_who_can_not_be_told_fails_no_job_and_the_log_has_it(notified: Notified) -> None:
    notified.room.status = 410
    done = notified.runs("refused", "print('runs')")
    assert (done.returncode, done.stdout) == (0, "runs\nslipway: nobody was told that it succeeded: HTTP 410\n")
    notified.room.status = 302
    assert notified.runs("elsewhere", "print('runs')").stdout.endswith("HTTP 302\n")
    notified.secret = f"projects/{PROJECT}/secrets/nowhere/versions/latest"
    done = notified.runs("no-secret", "print('runs')")
    assert done.returncode == 0 and f"nobody was told that it succeeded: {notified.secret}: HTTP 404" in done.stdout


def test_an_address_that_is_none_is_said_with_its_secret(notified: Notified, cloud: LocalCloud) -> None:
    notified.secret = new_secret(cloud, "none", "chat.acme.example/s3cr3t")
    why = "the address in it, which is not shown, is neither https:// nor on this machine; add a version with another"
    said = f"nobody was told that it succeeded: {notified.secret}: {why}\n"
    assert notified.runs("none", "print('runs')").stdout.endswith(said)


def test_a_secret_that_the_job_may_not_read_is_said_with_the_account_and_its_role(notified: Notified) -> None:
    """The log of such a job said HTTP 403 alone."""
    notified.secret = "projects/elsewhere/secrets/room/versions/latest"
    said = notified.runs("denied", "print('runs')").stdout
    role = "roles/secretmanager.secretAccessor"
    assert f"{notified.secret}: {EMAIL} needs {role} on it: HTTP 403" in said, "what is long is cut at its end"
    code = notified.runs("stopped", "print('never')", HF_TOKEN__SECRET=notified.secret)
    way = f"gcloud secrets add-iam-policy-binding {notified.secret[:-16]} --role={role} --member=serviceAccount:{EMAIL}"
    made = f"if there is no such secret, gcloud secrets create {notified.secret[:-16]} --data-file=FILE first"
    assert code.stderr.endswith(f"  fix: {way}; {made}, then submit again\n"), "it answers so for one that is missing"


def test_where_no_mark_can_be_made_nobody_is_told_and_the_log_has_it(room: Room) -> None:
    said: list[str] = []

    def unable(mark: str) -> bool:
        raise StorageError("HTTP 403")

    asks = json.dumps({**FACTS, "secret": "projects/p/secrets/s"})
    teller = notify.Teller(asks, "gs://work/claims/r1", lambda reference: room.url, unable, said.append)
    teller.ended(0, "", "chief", chief=True)
    assert said == ["nobody was told that it succeeded: projects/p/secrets/s: HTTP 403"] and room.bodies == []


def test_two_that_would_tell_the_same_place_tell_it_once_and_another_place_too(room: Room) -> None:
    taken: set[str] = set()

    def take(mark: str) -> bool:
        new = mark not in taken
        taken.add(mark)
        return new

    for _ in range(2):
        assert tell("gs://work/claims/r1", room.url, SUCCEEDED, FACTS, take) == ""
    assert len(room.bodies) == 1
    assert tell("gs://work/claims/r1", f"{room.url}/other", SUCCEEDED, FACTS, take) == "" and len(room.bodies) == 2
    assert all(mark.startswith("gs://work/claims/r1/told/succeeded-") and "s3cr3t" not in mark for mark in taken)


@pytest.mark.parametrize("url", ["http://chat.acme.example/x", "https://", "ftp://h/x", "chat", "http://[", ""])
def test_an_address_that_would_be_read_on_the_way_is_told_nothing(url: str) -> None:
    assert not private(url)
    with pytest.raises(ValueError, match="not shown"):
        tell("gs://work/claims/r1", url, FAILED, FACTS, lambda mark: True)


def test_nobody_there_is_told_without_the_address() -> None:
    problem = tell("gs://work/claims/r1", "http://127.0.0.1:9/s3cr3t", FAILED, FACTS, lambda mark: True)
    assert problem == "nobody was told that it failed: no answer (ConnectionRefusedError)"


@pytest.mark.parametrize("drip", [b"HTTP/1.1 100 Continue\r\n\r\n", b"x", b""])
def test_a_room_that_never_ends_its_answer_holds_up_no_job(drip: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "TIMEOUT_S", 0.5)
    done = threading.Event()

    class Endless(loopback.Handler):
        def do_POST(self) -> None:
            with contextlib.suppress(OSError):
                while not done.wait(0.05):
                    self.wfile.write(drip)

    with loopback.served(Endless) as url:
        problem = tell("gs://work/claims/r1", f"{url}/s3cr3t", FAILED, FACTS, lambda mark: True)
        done.set()
    assert problem.startswith("nobody was told that it failed: no answer") and "s3cr3t" not in problem


@pytest.mark.parametrize(
    ("url", "chat"),
    [
        ("https://hooks.slack.com/services/T/B/x", True),
        ("https://chat.googleapis.com/v1/spaces/A/messages?key=k", True),
        ("https://chat.acme.example/hooks/x#slack", True),
        ("https://hooks.slack.com/services/T/B/x#json", False),
        ("https://acme.example/hook", False),
    ],
)
def test_a_chat_room_gets_a_text_alone_and_a_program_the_facts(url: str, chat: bool) -> None:
    body: Any = json.loads(message(url, FAILED, {**FACTS, "why": "<!channel> & \n more"}))
    if chat:
        assert body == {
            "text": "digits-7k2p3f9a of stack prod (ada) failed: &lt;!channel&gt; &amp; more\n"
            "slipway jobs show digits-7k2p3f9a"
        }
    else:
        assert body["event"] == FAILED and body["why"] == "<!channel> & more" and body["job"] == FACTS["job"]


def test_a_wait_is_told_in_minutes_and_long_ones_in_hours() -> None:
    assert [after(seconds) for seconds in (61, 840, 7300, 90_000)] == [
        "after 1 min",
        "after 14 min",
        "after 2 h",
        "after 25 h",
    ]
    assert notify.WAITED_S == 60
