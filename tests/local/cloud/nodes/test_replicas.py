"""Replicas as real processes: started once, ended whole, whatever is killed (B4, N4)."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest.mock import patch

import psutil
import pytest

from local.cloud import files
from local.cloud.images import cache
from local.cloud.nodes import logfile, processes, runner_starter
from local.cloud.nodes import spec as specs
from local.cloud.nodes.runner_starter import RunnerStarter
from local.cloud.nodes.spec import Identity, ReplicaSpec, Status

WAIT_S = 600.0
_HARD_TO_WAKE = """
import os, signal, sys, threading
from pathlib import Path
from local.cloud.nodes import runner
os.setsid()
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
runner.main(Path(sys.argv[1]))
"""


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("images")


@pytest.fixture
def spec(tmp_path: Path, images: Path) -> ReplicaSpec:
    identity = Identity("a@b", "slipway-local", "100000000001", "us-central1", "42", "n1-standard-4", "secret-token")
    return ReplicaSpec(
        name="workerpool0-0",
        url="http://127.0.0.1:9",
        host="127.200.0.1" if sys.platform == "linux" else "127.0.0.1",
        identity=identity,
        image="python:3.10",
        image_folder=str(images),
        environment_folder=str(tmp_path / "environments" / "a"),
        packages=(),
        module="",
        command=("true",),
        args=(),
        variables={"GIVEN": "service"},
        user_variables={"CHOSEN": "$(GIVEN)!", "OMP_NUM_THREADS": "3"},
        threads=1,
        grace_s=0.5,
    )


@pytest.fixture
def run(tmp_path: Path, spec: ReplicaSpec) -> Iterator["Replica"]:
    replica = Replica(tmp_path / "replica", spec, RunnerStarter())
    yield replica
    replica.starter.stop(replica.folder)
    replica.until(lambda: replica.status().ended)


class Replica:
    """A replica under test, with a starter that can be forgotten as when the cloud is killed."""

    def __init__(self, folder: Path, spec: ReplicaSpec, starter: RunnerStarter) -> None:
        self.folder, self.spec, self.starter = folder, spec, starter

    def start(self, *command: str) -> None:
        self.starter.write(self.folder, replace(self.spec, command=command))
        self.starter.start(self.folder)

    def status(self) -> Status:
        return self.starter.status(self.folder)

    def until(self, true: Callable[[], bool]) -> None:
        until = time.monotonic() + WAIT_S
        while not true():
            assert time.monotonic() < until, (self.folder / "runner.log").read_text(encoding="utf-8")
            time.sleep(0.02)

    def ended(self) -> Status:
        self.until(lambda: self.status().ended)
        return self.status()

    def running(self) -> None:
        self.until(lambda: self.status().phase == "running")

    def lines(self) -> list[logfile.Line]:
        return logfile.read(self.folder / specs.LOG, 0, 1 << 20)[0]

    def said(self) -> list[str]:
        return [line.text for line in self.lines() if not line.service]

    @property
    def pid(self) -> int:
        claim = files.read_json(self.folder / specs.CLAIM)
        assert claim
        return int(claim["pid"])


def python(code: str) -> tuple[str, ...]:
    return ("python", "-c", code)


def test_user_code_runs_in_its_image_with_its_environment(run: Replica) -> None:
    run.start(
        *python("import os, sys; print(sys.prefix, os.environ['CHOSEN'], os.environ['OMP_NUM_THREADS'], os.getcwd())")
    )
    assert run.ended() == Status("exited", 0)
    prefix, chosen, threads, folder = run.said()[0].split()
    assert Path(prefix) == Path(run.spec.environment_folder) / "environment"
    assert (chosen, threads, folder) == ("service!", "3", str(run.folder / "work"))


def test_google_s_clients_are_led_to_the_metadata_server_and_not_to_google(run: Replica) -> None:  # N17
    """C++ (pyarrow) and Python ask it by different variables; gcsfs is kept from gRPC."""
    code = """
import json, os, urllib.request
for name in ("GCE_METADATA_HOST", "GCE_METADATA_ROOT"):
    url = f"http://{os.environ[name]}/computeMetadata/v1/instance/service-accounts/default/?recursive=true"
    asked = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    print(json.load(urllib.request.urlopen(asked))["email"])
print(os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"])
"""
    run.start(*python(code))
    assert run.ended() == Status("exited", 0), run.lines()
    assert run.said() == ["a@b", "a@b", "false"]


def test_an_image_that_is_built_once_for_the_machine_is_linked_into_each_cache(run: Replica, tmp_path: Path) -> None:
    run.spec = replace(run.spec, image_folder=str(tmp_path / "cluster"), shares_images=True)
    run.start(*python("print('well')"))
    assert run.ended() == Status("exited", 0)
    assert run.said() == ["well"]
    (link,) = (path for path in (tmp_path / "cluster").iterdir() if path.suffix != ".lock")
    assert link.readlink().parent == cache.common(os.environ)


def test_nothing_of_the_person_s_environment_reaches_user_code(run: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "of-the-person")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-person")
    run.start(*python("import os; print(sorted(os.environ)); print('of-the-person' in os.environ.values())"))
    run.ended()
    assert run.said()[1] == "False"


def test_lines_come_with_their_severity_and_structure(run: Replica) -> None:
    code = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr); sys.stderr.flush();"
    run.start(*python(code + """print('{"message": "m", "severity": "warning", "step": 3}'); print('{"no": 1}')"""))
    run.ended()
    lines = {line.text or json.dumps(line.fields): line.severity for line in run.lines() if not line.service}
    assert lines == {"out": "INFO", "err": "ERROR", '{"message": "m", "step": 3}': "WARNING", '{"no": 1}': "INFO"}


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.abort()", 134)])
def test_an_exit_status_is_kept(run: Replica, code: str, status: int) -> None:
    run.start(*python(code))
    ended = run.ended()
    assert ended == Status("exited", status)
    assert ended.began and ended.over and ended.began < ended.over, "its own times, whoever looks when"


def test_an_image_without_a_recipe_is_refused_in_words(run: Replica) -> None:
    run.spec = replace(run.spec, image="gcr.io/mine/image:1")
    run.start("true")
    ended = run.ended()
    assert ended.phase == "unready"
    assert "Failed to pull image gcr.io/mine/image:1" in ended.message
    assert any(ended.message == line.text and line.severity == "ERROR" for line in run.lines())


def test_a_package_that_can_not_be_read_is_told(run: Replica) -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as refusing:
        threading.Thread(target=refusing.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{refusing.server_port}"
        run.spec = replace(run.spec, url=url, packages=("gs://b/p.tar.gz",), module="task")
        run.start()
        ended = run.ended()
    assert (ended.phase, "gs://b/p.tar.gz can't be read" in ended.message) == ("unready", True)


def test_what_builds_its_package_leaves_nothing_behind(
    run: Replica, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, temporary = tmp_path / "task-1", tmp_path / "temporary"
    source.mkdir()
    temporary.mkdir()
    (source / "task.py").write_text(f"print({str(tmp_path)!r})")  # which no wheel of another run has
    project = '[project]\nname = "task"\nversion = "1"\n[tool.setuptools]\npy-modules = ["task"]\n'
    (source / "pyproject.toml").write_text(project)
    package = Path(shutil.make_archive(str(source), "gztar", tmp_path, source.name)).read_bytes()

    class Serving(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(package)))
            self.end_headers()
            self.wfile.write(package)

    monkeypatch.setenv("TMPDIR", str(temporary))
    with HTTPServer(("127.0.0.1", 0), Serving) as serving:
        threading.Thread(target=serving.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{serving.server_port}"
        run.spec = replace(run.spec, url=url, packages=("gs://b/task-1.tar.gz",), module="task")
        run.start()
        assert run.ended() == Status("exited"), run.lines()
    assert run.said() == [str(tmp_path)]
    assert not [*temporary.iterdir()]


def test_a_program_that_does_not_exist_is_told(run: Replica) -> None:
    run.start("no-such-program")
    assert run.ended().message.startswith("no-such-program can't be run")


def test_stopping_asks_first_and_kills_after_the_grace(run: Replica) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))\n"
    run.start(*python(code + "print('up', flush=True)\nwhile True: time.sleep(0.05)"))
    run.until(lambda: "up" in run.said())
    run.starter.stop(run.folder)
    run.starter.stop(run.folder)
    assert run.ended() == Status("stopped")
    assert "asked" in run.said()


def test_killing_asks_nobody(run: Replica) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))\n"
    run.start(*python(code + "print('up', flush=True)\nwhile True: time.sleep(0.05)"))
    run.until(lambda: "up" in run.said())
    session = run.pid
    run.starter.kill(run.folder)
    run.starter.kill(run.folder)
    assert run.ended() == Status("killed")
    assert run.said() == ["up"]
    run.until(lambda: processes.members(session) == [])


def test_its_runner_is_killed_first_so_that_it_never_sees_user_code_end(run: Replica) -> None:
    code = "import subprocess, time\nfor _ in range(20): subprocess.Popen(['sleep', '600'])\n"
    run.start(*python(code + "print('up', flush=True)\ntime.sleep(600)"))
    run.until(lambda: "up" in run.said())
    with patch("os.kill", side_effect=os.kill) as kill:
        run.starter.kill(run.folder)
    killed = [call.args[0] for call in kill.call_args_list]
    assert killed[0] == run.pid and len(killed) > 20
    assert run.ended() == Status("killed")


def test_a_replica_can_be_killed_before_it_has_begun_and_by_another_process(run: Replica) -> None:
    run.starter.write(run.folder, run.spec)
    assert runner_starter.kill(run.folder) is False, "there is nothing to kill"
    run.starter.kill(run.folder)
    run.starter.start(run.folder)
    assert run.ended() == Status("killed")


def test_the_time_between_asking_and_killing_can_be_given(run: Replica) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))\n"
    code += "print('up', flush=True)\nend = time.monotonic() + 600\n"
    run.spec = replace(run.spec, grace_s=600)
    run.start(*python(code + "while time.monotonic() < end: time.sleep(0.05)"))
    run.until(lambda: "up" in run.said())
    run.starter.stop(run.folder, 0.5)
    assert run.ended() == Status("stopped")
    assert "asked" in run.said()


def test_whatever_user_code_left_behind_is_ended(run: Replica) -> None:
    run.start(*python("import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"))
    assert run.ended() == Status("exited", 0)
    run.until(lambda: processes.members(run.pid) == [])


LEAVE = """
import os, subprocess, sys
subprocess.Popen(["sh", "-c", "trap '' TERM; cd /; echo up; exec sleep 600"], start_new_session=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to somebody else than init")
@pytest.mark.parametrize("parent", ["that ends", "that goes on and is stopped", "whose runner is killed"])
def test_what_user_code_put_into_a_session_of_its_own_is_ended_too(run: Replica, parent: str) -> None:  # N4
    stays = "" if parent == "that ends" else "\nimport time; time.sleep(600)"
    run.start(*python(LEAVE + stays))
    run.until(lambda: "up" in run.said())
    home = run.folder / "work"
    if parent == "that goes on and is stopped":
        assert len(processes.at_home_in(home)) == 2
        run.starter.stop(run.folder)
    elif parent == "whose runner is killed":
        os.kill(run.pid, signal.SIGKILL)
    run.ended()
    run.until(lambda: processes.at_home_in(home) == [])


@pytest.mark.parametrize("born", ["", "an earlier start of the machine/17", "the number's former owner"])
def test_a_number_that_somebody_else_got_is_left_alone(run: Replica, born: str) -> None:
    """A machine that was restarted while jobs ran: what the claim names is another's session now."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        run.starter.write(run.folder, run.spec)
        if born == "the number's former owner":
            born = processes.birth(other.pid).rpartition("/")[0] + "/17"
        files.write_json(run.folder / specs.CLAIM, {"pid": other.pid, "born": born})
        assert run.status() == Status("lost")
        assert other.poll() is None
        other.kill()


def test_a_session_without_its_leader_is_ended_in_the_same_run_of_the_machine_only(run: Replica) -> None:
    leader = subprocess.Popen(["sh", "-c", "sleep 600 & exec sleep 600"], start_new_session=True)
    born = processes.birth(leader.pid)
    run.until(lambda: len(processes.members(leader.pid)) == 2)
    leader.kill()
    leader.wait()
    processes.end_replica(leader.pid, "an earlier start of the machine/17", run.folder)
    assert len(processes.members(leader.pid)) == 1
    processes.end_replica(leader.pid, born, run.folder)
    run.until(lambda: processes.members(leader.pid) == [])


@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
def test_an_argument_that_no_program_can_have_is_told(run: Replica, word: str) -> None:
    run.start("echo", word)
    ended = run.ended()
    assert ended.phase == "unready" and ended.message.startswith("echo can't be run")


def test_a_replica_is_never_started_twice(run: Replica, tmp_path: Path) -> None:
    witness = tmp_path / "starts"
    run.start("sh", "-c", f"echo start >> {witness}; sleep 1")
    command = [sys.executable, "-m", "local.cloud.nodes.runner", str(run.folder / specs.SPEC)]
    others = [subprocess.Popen(command) for _ in range(3)]
    run.starter.start(run.folder)
    for other in others:
        assert other.wait() == 0
    assert run.ended() == Status("exited", 0)
    RunnerStarter().start(run.folder)
    assert witness.read_text(encoding="utf-8").split() == ["start"]


def test_a_cloud_that_was_killed_finds_its_replica_running_and_can_end_it(run: Replica) -> None:
    run.start("sleep", "600")
    run.running()
    run.starter = RunnerStarter()
    run.starter.start(run.folder)
    assert run.status() == Status("running")
    run.starter.stop(run.folder)
    assert run.ended() == Status("stopped")


def test_a_killed_runner_is_a_lost_machine_and_leaves_nothing_running(run: Replica) -> None:
    run.start("sleep", "600")
    run.running()
    session = run.pid
    os.kill(session, signal.SIGKILL)
    assert run.ended() == Status("lost")
    run.until(lambda: processes.members(session) == [])


@pytest.mark.parametrize("end", ["by itself", "lost", "killed"])
def test_its_temporary_files_go_with_it(run: Replica, end: str) -> None:
    wait = "" if end == "by itself" else "time.sleep(600)"
    run.start(*python(f"import tempfile, time; print(tempfile.mkdtemp(), flush=True); {wait}"))
    run.until(lambda: bool(run.said()))
    left = Path(run.said()[0])
    assert left.parent == specs.temporary(run.folder) and len(str(left)) < len(str(run.folder)), "for paths of sockets"
    if end == "lost":
        os.kill(run.pid, signal.SIGKILL)
    elif end == "killed":
        run.starter.kill(run.folder)
    run.ended()
    assert not left.parent.exists()


def test_a_runner_that_is_ended_from_outside_is_a_lost_machine(run: Replica) -> None:
    run.start("sleep", "600")
    run.running()
    os.kill(run.pid, signal.SIGTERM)
    assert run.ended() == Status("lost")


def test_a_signal_that_does_not_wake_the_runner_is_heard_all_the_same(run: Replica) -> None:  # N4
    """It came as the runner began to wait, and the job that was cancelled then never ended. Another thread that takes
    the signal has the same effect each time."""
    run.starter.write(run.folder, replace(run.spec, command=python("import time; time.sleep(1000)")))
    with (run.folder / "runner.log").open("wb") as output:
        runner = subprocess.Popen(
            [sys.executable, "-c", _HARD_TO_WAKE, str(run.folder / specs.SPEC)], stdout=output, stderr=output
        )
    run.running()
    run.starter.stop(run.folder)
    assert run.ended().phase == "stopped"
    assert runner.wait(WAIT_S) == 0


def test_a_replica_that_was_never_started_is_stopped_at_once(run: Replica) -> None:
    run.starter.write(run.folder, run.spec)
    run.starter.stop(run.folder)
    assert run.status() == Status("stopped")
    run.starter.start(run.folder)
    assert not (run.folder / specs.CLAIM).exists()


def test_the_token_is_readable_by_its_owner_only(run: Replica) -> None:
    run.starter.write(run.folder, run.spec)
    assert (run.folder / specs.SPEC).stat().st_mode & 0o077 == 0
    assert "secret-token" not in repr(run.spec)


def test_google_auth_finds_the_identity(run: Replica) -> None:
    code = (
        "import google.auth, google.auth.transport.requests as r; c, p = google.auth.default(); c.refresh(r.Request());"
        "print(p, c.service_account_email, c.token)"
    )
    run.start(sys.executable, "-c", code)
    assert run.ended() == Status("exited", 0), run.said()
    assert run.said()[-1] == "slipway-local a@b secret-token"


def test_runners_that_have_ended_do_not_stay_as_zombies(run: Replica, tmp_path: Path) -> None:
    first = run.folder
    run.start("true")
    run.until((first / specs.EXIT).exists)
    runner = run.pid
    run.until(lambda: psutil.Process(runner).status() == psutil.STATUS_ZOMBIE)
    run.folder = tmp_path / "next"
    run.start("true")
    assert not psutil.pid_exists(runner)
    run.ended()
