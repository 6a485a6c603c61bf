"""`slipway session`: a machine that is held, and runs what its owner sends. # N25"""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from decimal import Decimal

import pytest

from slipway.using.sessions.starting import IDLE_COST

from .catalogs import POOL
from .stack import SPOT_CPUS, Stack, held
from .test_run import open_to_commands

__all__ = ["open_to_commands"]


@pytest.fixture
def session(open_to_commands: Stack) -> Iterator[Stack]:
    """A stack with a session of Ada's, whose machine works."""
    started = open_to_commands.well("session", "start", "--idle", "10m")
    assert "session session: ends after 10 min without a run" in started.out, started.out
    yield open_to_commands


@pytest.mark.journey
def test_commands_run_one_after_the_other_with_the_files_of_now(session: Stack) -> None:
    done = session.run("session", "run", "train.py", "--lr", "0.1")
    assert (done.code, done.out) == (0, "lr None --lr 0.1\n"), done.err
    (session.folder / "words.py").write_text("WORD = 'edited'\n")
    (session.folder / "train.py").write_text("import sys, words\nprint(words.WORD)\nsys.exit(3)\n")
    done = session.run("session", "run", "train.py")
    assert (done.code, done.out) == (3, "edited\n"), done.err
    assert "run 2  2 files changed" in done.err and "$SLIPWAY_OUTPUT" not in done.err
    (session.folder / "words.py").write_text("WORD = 'another'\n")
    assert session.run("session", "run", "train.py").out == "another\n"
    (row,) = session.well("session", "list", "--output", "json").json["sessions"]
    assert row["run"] == 3 and row["command"] is None
    closed = session.run("jobs", "open", "session", "--shell")
    assert closed.code == 4 and "fix: slipway session run -- COMMAND, which runs there; for a shell" in closed.err
    assert "slipway session start --shell, where the stack allows it" in closed.err
    session.well("session", "stop")
    session.all_end()
    (job,) = session.jobs()
    assert job["state"] == "JOB_STATE_SUCCEEDED"
    liked = session.run("submit", "--like", "session/2", "--wait")
    assert liked.code == 4 and "the command ended with 3" in liked.err, liked.err
    assert "not as it was" not in liked.err and "at most" not in liked.err, "the session's limit is not the job's"
    newest, _ = session.jobs()
    assert "slipway-session" not in newest["labels"] and "timeout" not in newest["jobSpec"].get("scheduling", {})
    assert "edited" in session.well("jobs", "logs", newest["displayName"]).out


@pytest.mark.journey
def test_answers_that_are_lost_on_either_side_double_nothing(session: Stack) -> None:
    counts = "import os\nwith open(os.environ['SLIPWAY_OUTPUT'] + '/counted', 'a') as file:\n    file.write('x')\n"
    (session.folder / "counts.py").write_text(counts + "print('counted')\n")
    for match in ("^POST .*sessions", "^GET .*sessions"):
        for kind in ("lost-answer", "unavailable"):
            with session.faults({"kind": kind, "match": match, "times": 3}):
                done = session.run("session", "run", "--resume", "counts.py")
            assert (done.code, done.out) == (0, "counted\n"), done.err
    metrics = "import os; open(os.environ['SLIPWAY_OUTPUT'] + '/metrics.json', 'w').write('{\"loss\": 0.5}')"
    assert session.run("session", "run", "--resume", "--", "python", "-c", metrics).code == 0

    def metrics_shown() -> bool:
        shown = session.well("jobs", "show", "session", "--output", "json").json["job"]
        return bool(shown["metrics"] == {"loss": 0.5})

    session.until(metrics_shown)
    shown = "import os; print(open(os.environ['SLIPWAY_OUTPUT'] + '/counted').read())"
    assert session.run("session", "run", "--resume", "--", "python", "-c", shown).out == "xxxx\n"
    assert session.run("session", "run", "--", "exit 7").code == 7


WAITS = """
import os, time
print("begun", flush=True)
while not os.path.exists(os.environ["SLIPWAY_OUTPUT"] + "/go"):
    time.sleep(0.05)
"""


def begun(process: subprocess.Popen[str]) -> None:
    assert process.stdout and process.stdout.readline() == "begun\n"


@pytest.mark.journey
def test_one_runs_at_a_time_and_ctrl_c_is_the_commands(session: Stack) -> None:
    (session.folder / "waits.py").write_text(WAITS)
    with session.started("session", "run", "waits.py") as first:
        begun(first)
        refused = session.run("session", "run", "train.py")
        assert refused.code == 4 and "session runs Ada's python waits.py" in refused.err, refused.err
        (row,) = session.well("session", "list", "--output", "json").json["sessions"]
        assert row["command"] == "python waits.py" and row["idleSeconds"] is None
        assert "run 1: python waits.py" in session.well("session", "list").out
        assert session.run("session", "start").code == 2, "one of a name"
        first.send_signal(signal.SIGINT)
        _, err = first.communicate(timeout=120)
        assert first.returncode in (1, 130) and "KeyboardInterrupt" in err, err
    assert session.run("session", "run", "train.py").code == 0
    with session.started("session", "run", "waits.py") as ended:
        begun(ended)
        ended.terminate()
        _, err = ended.communicate(timeout=120)
    assert ended.returncode == 143 and "terminated; run 3 goes on\n  fix: slipway jobs logs " in err, err
    refused = session.run("session", "run", "train.py")
    assert refused.code == 4 and "run 3 goes on" in refused.err, "a run outlives who sent it"
    session.well("session", "stop")
    session.all_end()
    gone = session.run("session", "run", "train.py")
    assert gone.code == 4 and "fix: slipway session start" in gone.err, gone.err
    assert session.run("session", "list").out == ""


@pytest.mark.journey
def test_runs_are_listed_with_metrics_compared_and_interrupted_from_elsewhere(session: Stack) -> None:
    writes = "import os, sys\nopen(os.environ['SLIPWAY_OUTPUT'] + '/metrics.json', 'w').write(sys.argv[1])\n"
    (session.folder / "train.py").write_text(writes)
    assert session.run("session", "run", "train.py", '{"accuracy": 0.8}').code == 0
    (session.folder / "train.py").write_text(f"{writes}sys.exit(int(sys.argv[2]))\n")
    assert session.run("session", "run", "train.py", '{"accuracy": 0.9}', "3").code == 3
    (session.folder / "waits.py").write_text(WAITS)
    with session.started("session", "run", "waits.py") as run:
        begun(run)
        interrupted = session.well("session", "interrupt")
        assert "run 3 of session session is interrupted: python waits.py" in interrupted.out
        _, err = run.communicate(timeout=120)
    assert run.returncode in (1, 130) and "KeyboardInterrupt" in err, err
    nothing = session.run("session", "interrupt")
    assert nothing.code == 4 and "runs nothing" in nothing.err and "run 3 has ended" in nothing.err

    def read() -> bool:
        runs = session.well("session", "runs", "--sort", "-accuracy", "-o", "json").json["runs"]
        return [run["metrics"].get("accuracy") for run in runs] == [0.8, 0.9, None]

    session.until(read)
    runs = session.well("session", "runs", "--sort", "-accuracy", "-o", "json").json["runs"]
    assert [(run["number"], run["state"]) for run in runs][:2] == [(1, "succeeded"), (2, "failed")]
    assert (runs[1]["exitCode"], runs[1]["failureReason"]) == (3, "the command ended with 3") and runs[0][
        "ranSeconds"
    ] > 0
    compared = session.well("session", "compare", "1", "session/2")
    assert re.search(r"FILE +train.py +\w{8} +\w{8}\n", compared.out) and re.search(
        r"METRIC +accuracy +0.8 +0.9\n", compared.out
    )
    assert session.run("session", "compare", "1", "9").code == 4
    session.well("session", "stop")
    session.all_end()
    assert re.search(r"\n +2 +failed +0.9 ", session.well("session", "runs", "session").out), "also once it has ended"


@pytest.mark.journey
def test_a_preempted_session_starts_again_and_tells_what_is_lost(open_to_commands: Stack) -> None:
    stack = open_to_commands
    (stack.folder / "waits.py").write_text(WAITS)
    with stack.settings(quota=SPOT_CPUS):
        stack.well("session", "start", "--capacity", "spot", "--yes")
        with stack.started("session", "run", "waits.py") as run:
            begun(run)
            with stack.scenario(spot={"preempt": [{"job": "hello-", "after": 0.0, "times": 1}]}):
                _, err = run.communicate(timeout=300)
        assert run.returncode == 4 and "run 1 of session is lost" in err, err
        assert "slipway session run -- python waits.py" in err
        assert stack.run("session", "run", "train.py").out == "lr None\n"


@pytest.mark.journey
def test_the_next_run_waits_for_no_mark_of_the_last_one_s_end(session: Stack) -> None:
    with session.faults({"kind": "hold", "match": "^POST .*ended"}):
        assert session.run("session", "run", "train.py").code == 0
        assert "idle" in session.well("session", "list").out
        with session.started("session", "run", "train.py", "2") as second:
            assert second.stderr and any(line.startswith("run 2 ") for line in iter(second.stderr.readline, ""))
            session.cloud.rest("DELETE", "/vertex-local/faults")
            assert second.communicate(timeout=120)[0] == "lr None 2\n" and second.returncode == 0


@pytest.mark.journey
def test_who_ends_a_session_and_what_is_told_of_it_then(session: Stack) -> None:
    agent = {"SLIPWAY_AGENT": "bot"}
    refused = session.run("session", "stop", **agent)
    assert refused.code == 5 and "not sent by agent bot" in refused.err, refused.err
    assert "requirements.txt is another" not in session.run("session", "run", "train.py").err
    session.well("session", "start", "--name", "other", **agent)
    (other, _) = session.well("session", "list", "--output", "json").json["sessions"]
    assert other["agent"] == "bot"
    (session.folder / "waits.py").write_text(WAITS)
    with session.started("session", "run", "--session", "session", "waits.py", **agent) as run:
        begun(run)
        refused = session.run("session", "run", "--session", "session", "train.py")
        assert "session runs bot for Ada's python waits.py" in refused.err, refused.err
        with session.faults({"kind": "hold", "match": "^GET .*stop-1"}):
            session.well("session", "stop", "--session", "session")
            row = session.well("session", "list").out.splitlines()[-1]
            assert "ends as Ada stopped it" in row and row.split()[-1] == "now", row
        run.communicate(timeout=120)
    session.until(lambda: len(session.well("session", "list", "--output", "json").json["sessions"]) == 1)
    gone = session.run("session", "run", "--session", "session", "train.py")
    assert gone.code == 4 and "why: it ended as Ada stopped it" in gone.err, gone.err
    assert "a session" in session.well("jobs", "list").out
    session.well("session", "stop", "other", **agent)


def test_what_waits_for_machines_is_taken_back_or_cancelled(open_to_commands: Stack) -> None:
    held(open_to_commands)
    open_to_commands.well("session", "start", "--pool", "cpu/workers")
    with open_to_commands.started("session", "run", "train.py") as run:
        assert run.stderr and any("session  waits" in line for line in iter(run.stderr.readline, ""))
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=120)
        assert run.returncode == 130 and "run 1 is taken back" in err, err
    assert "session ends" in open_to_commands.well("session", "stop").out
    newest = open_to_commands.jobs()[0]
    open_to_commands.until(lambda: open_to_commands.jobs()[0]["state"] == "JOB_STATE_CANCELLED")
    assert newest["labels"]["slipway-session"]


def test_what_no_session_can_be_is_refused(open_to_commands: Stack) -> None:
    for words, said in {
        ("--idle", "soon"): "invalid duration",
        ("--idle", "5"): "--idle 5 has no unit",
        ("--preload", "torch,"): "fix: --preload torch,transformers",
        ("--max-run", "30d"): "hello may run 7 days at most",
        ("--machine", "a2"): "has no choice of machines",
        ("--preload", "json,train"): "train of the folder can't be preloaded",
    }.items():
        refused = open_to_commands.run("session", "start", *words)
        assert refused.code == 2 and said in refused.err and not open_to_commands.jobs(), refused.err
    key = "WANDB_API_KEY=" + "0123456789abcdef" * 2 + "01234567"
    refused = open_to_commands.run("session", "run", f"export {key}; python train.py")
    assert refused.code == 2 and "slipway session start --secret NAME=SECRET" in refused.err, refused.err
    assert "no session" in open_to_commands.run("session", "stop").err
    open_to_commands.well("run", "-d", "--name", "one", "train.py")
    assert "is no session" in open_to_commands.run("submit", "--like", "one/1").err


def test_looking_for_requests_costs_little() -> None:
    assert round(IDLE_COST, 3) == Decimal("0.069")


def test_a_stack_limits_sessions(open_to_commands: Stack) -> None:
    stack = open_to_commands
    stack.catalog["sessions"] = {"max": 3600.0, "pools": ["cpu/workers"]}
    stack.publish()
    for words, said in {
        ("--max-run", "2h"): "error: a session may run 1 h at most, and 2 h are asked for",
        ("--max-run", "3h"): "fix: --max-run 60m",
        ("--pool", "cpu/others"): "fix: --pool cpu/workers",
        ("--capacity", "on-demand"): "fix: --pool cpu/workers, and no other capacity type",
    }.items():
        refused = stack.run("session", "start", *words)
        assert refused.code == 5 and said in refused.err and not stack.jobs(), refused.err
    request = json.loads(stack.well("session", "start", "--dry-run").out)
    assert request["jobSpec"]["scheduling"]["timeout"] == "3600s" and request["jobSpec"]["persistentResourceId"]
    stack.catalog["sessions"] = {"pools": []}
    stack.publish()
    refused = stack.run("session", "start")
    assert refused.code == 5 and f"error: stack {stack.name} lets no session run" in refused.err, refused.err
    assert "why: slipway:sessions of its stack file has an empty list of pools" in refused.err and not stack.jobs()


def test_the_way_out_of_a_pool_that_sessions_may_not_use_is_one(open_to_commands: Stack) -> None:
    """Advice once named the other machines' pool, and there the first one."""
    stack = open_to_commands
    template, small, large = stack.catalog["templates"]["hello"], "n1-standard-4", "n1-standard-8"
    stack.catalog["clusters"]["cpu"]["pools"]["head"] = {**POOL, "machine": large}
    stack.catalog["sessions"] = {"pools": ["cpu/workers"]}
    machine = {"name": "machine", "type": "str", "default": large, "choices": [small, large], "help": "its machine"}
    template["parameters"].append(machine)
    on_workers = template["offers"][0] | {"when": {"machine": [small]}}
    on_head = template["offers"][0] | {"when": {"machine": [large]}, "pools": ["head"]}
    template["offers"] = [on_head, on_workers]
    stack.publish()
    for words, fix in {
        (): f"--machine {small}",
        ("--pool", "cpu/workers"): f"--machine {small}",
        ("--pool", "cpu/head"): f"--machine {small} --pool cpu/workers",
        ("--capacity", "spot"): f"--machine {small} --pool cpu/workers, and no other capacity type",
        ("--pool", "cpu/head", "--machine", small): "--pool cpu/workers",
    }.items():
        refused = stack.run("session", "start", *words)
        assert refused.code == 5 and refused.err.rstrip().endswith(f"fix: {fix}"), refused.err
    assert "says so, and hello as it is asked for does not fit cpu/workers\n" in stack.run("session", "start").err
    body = json.loads(stack.well("session", "start", "--machine", small, "--dry-run").out)
    assert body["jobSpec"]["persistentResourceId"]
    assert "machine=huge is not one of" in stack.run("session", "start", "--machine", "huge").err

    stack.catalog["templates"]["second"] = {**template, "offers": [on_workers]}
    template["offers"] = [on_head]
    stack.publish()
    refused = stack.run("session", "start", "--template", "hello")
    assert refused.code == 5 and "fix: slipway session start --template second, which fits" in refused.err, refused.err
    del stack.catalog["templates"]["second"]
    stack.publish()
    refused = stack.run("session", "start")
    assert refused.code == 5 and "no template for sessions fits cpu/workers, and sessions may run there" in refused.err
