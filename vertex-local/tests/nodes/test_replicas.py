"""Replicas as real processes: started once, ended whole, whatever is killed; what their code finds (B4, N4)."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import psutil
import pytest

from tests.nodes.conftest import WAIT_S, Replica, python
from vertex_local import files
from vertex_local.images import cache
from vertex_local.nodes import processes, runner_starter
from vertex_local.nodes import spec as specs
from vertex_local.nodes.runner_starter import RunnerStarter
from vertex_local.nodes.spec import Status

_HARD_TO_WAKE = """
import os, signal, sys, threading
from pathlib import Path
from vertex_local.nodes import runner
os.setsid()
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
runner.main(Path(sys.argv[1]))
"""


SAYS_WHEN_ASKED = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"asked\\n"))
print("up", flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize("given", [None, 0.5])
def test_stopping_asks_first_and_kills_after_the_grace_or_the_time_that_is_given(
    run: Replica, given: float | None
) -> None:
    run.spec = replace(run.spec, grace_s=600 if given else 0.5)
    run.start(*python(SAYS_WHEN_ASKED))
    run.until(lambda: "up" in run.said())
    run.starter.stop(run.folder, given)
    run.starter.stop(run.folder, given)
    assert run.ended() == Status("stopped")
    assert "asked" in run.said()


def test_killing_asks_nobody(run: Replica) -> None:
    run.start(*python(SAYS_WHEN_ASKED))
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


def test_whatever_user_code_left_behind_is_ended(run: Replica) -> None:
    run.start(*python("import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)"))
    assert run.ended() == Status("exited", 0)
    run.until(lambda: processes.members(run.pid) == [])


LEAVE = """
import subprocess
command = ["sh", "-c", "trap '' TERM; cd /; echo up; exec sleep 600"]
left = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
print(left.stdout.readline(), end="", flush=True)
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


def test_a_replica_is_never_started_twice(run: Replica, tmp_path: Path) -> None:
    witness = tmp_path / "starts"
    run.start("sh", "-c", f"echo start >> {witness}; sleep 1")
    command = [sys.executable, "-m", "vertex_local.nodes.runner", str(run.folder / specs.SPEC)]
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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_runner_that_is_ended_from_outside_is_a_lost_machine_and_leaves_nothing_running(
    run: Replica, how: signal.Signals
) -> None:
    run.start("sleep", "600")
    run.running()
    session = run.pid
    os.kill(session, how)
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


def test_a_signal_that_does_not_wake_the_runner_is_heard_all_the_same(run: Replica) -> None:  # N4
    """The signal came as the runner began to wait, and the job that was cancelled then never ended. Another thread
    that takes the signal has the same effect each time."""
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


def test_runners_that_have_ended_do_not_stay_as_zombies(run: Replica) -> None:
    run.start("true")
    run.ended()
    run.until(lambda: not psutil.pid_exists(run.pid))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each runner is started as a process of its own")
def test_a_runner_is_forked_anew_when_what_it_is_forked_from_was_killed(run: Replica, tmp_path: Path) -> None:
    for place in ("first", "second"):
        run.folder = tmp_path / place
        run.start("true")
        assert run.ended() == Status("exited", 0)
        alive = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
        (warm,) = [process for process in alive if any(word.endswith("warm_runner") for word in process.cmdline())]
        warm.kill()
        warm.wait()


# --- What their code finds and says, and what keeps them from starting.


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


def test_programs_of_the_person_who_started_the_cloud_are_none_of_the_image(
    run: Replica, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pyenv's pytest would run without the image's packages, and be missing on the service."""
    program = tmp_path / "own" / "pytest"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    run.start(*python("import shutil; print(*map(shutil.which, ('pytest', 'python', 'sh')))"))
    assert run.ended() == Status("exited", 0)
    missing, image, system = run.said()[0].split()
    assert missing == "None" and Path(image).is_relative_to(run.spec.environment_folder) and system != "None"


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


@pytest.mark.parametrize("command", [["no-such-program"], ["echo", "a\0b"], ["echo", "\ud800"]])
def test_a_program_that_can_not_be_run_is_told(run: Replica, command: list[str]) -> None:
    run.start(*command)
    ended = run.ended()
    assert ended.phase == "unready" and ended.message.startswith(f"{command[0]} can't be run")


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
    assert run.said()[-1] == "local-project a@b secret-token"
