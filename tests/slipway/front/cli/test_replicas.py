"""`--replicas`: a command of one's own on several machines, which find each other as torchrun wants it. # N25"""

import json
from typing import Any

import pytest

import slipway
from slipway.base.errors import ConfigError

from .stack import Stack
from .test_run import open_to_commands

__all__ = ["open_to_commands"]

TORCH = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"
SUMS = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
# Two processes of one machine share its output, and `print` may write a line's end apart from it.
os.write(1, f"rank {dist.get_rank()} of {dist.get_world_size()}: sum {total.item():.0f}\\n".encode())
dist.destroy_process_group()
os._exit(0)  # Taking PyTorch's modules apart is a third of the time.
"""
TORCHRUN = (
    "torchrun --nnodes $WORLD_SIZE --node-rank $RANK --master-addr $MASTER_ADDR --master-port $MASTER_PORT "
    "--nproc-per-node 1 sums.py"
)
MEETS_BY_C10D = (
    "torchrun --nnodes 2 --rdzv-backend c10d --rdzv-endpoint $MASTER_ADDR:$MASTER_PORT --rdzv-id $CLOUD_ML_JOB_ID "
    "--nproc-per-node 1 sums.py"
)


@pytest.fixture
def torch(open_to_commands: Stack) -> Stack:
    """Its `hello` runs any command, in the image of PyTorch, and its folder has `sums.py`."""
    for offer in open_to_commands.catalog["templates"]["hello"]["offers"]:
        offer["request"]["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["executorImageUri"] = TORCH
    open_to_commands.publish()
    (open_to_commands.folder / "sums.py").write_text(SUMS)
    return open_to_commands


def adds_up(out: str) -> bool:
    """Tell whether two processes have added up their ranks, one on each replica."""
    return sorted(line.partition(" rank ")[0].strip() for line in out.splitlines() if "of 2: sum 3" in line) == [
        "main",
        "workers",
    ]


@pytest.mark.journey
@pytest.mark.parametrize("line", [TORCHRUN, MEETS_BY_C10D, "python sums.py"], ids=["static", "c10d", "env"])
def test_torchrun_adds_up_over_all_machines(torch: Stack, line: str) -> None:
    done = torch.well("run", "--replicas", "2", line)
    assert adds_up(done.out), done.out


@pytest.mark.journey
def test_each_run_of_a_session_has_a_rendezvous_of_its_own(torch: Stack) -> None:
    started = torch.well("session", "start", "--replicas", "2")
    assert "looking for runs costs $0.14 a day" in started.out, "two machines look"
    for _ in range(2):
        done = torch.well("session", "run", TORCHRUN)
        assert adds_up(done.out), done.out
    done = torch.run("session", "run", "--", "sh", "-c", 'printf "$RANK"; exit $RANK')
    assert done.code == 1 and {"main  0", "workers  1"} == {*done.out.splitlines()}, done.out
    (row,) = torch.well("session", "list", "--output", "json").json["sessions"]
    assert row["holds"] == "2 n1-standard-4"
    torch.well("session", "stop")
    torch.all_end()
    assert adds_up(torch.well("submit", "--like", "session/2", "--follow").out)


def counts(job: dict[str, Any]) -> list[str]:
    return [str(pool["replicaCount"]) for pool in job["jobSpec"]["workerPoolSpecs"]]


def test_they_are_judged_sent_shown_and_taken_over(open_to_commands: Stack) -> None:
    stack = open_to_commands
    told = stack.well("run", "--replicas", "3", "--dry-run", "train.py")
    assert counts(json.loads(told.out)) == ["1", "2"]
    assert "pool cpu: scales up: cpu/workers has 1 free, needs 3, grows 1 → 3 of 3 machines" in told.err, told.err
    stack.well("run", "-d", "--replicas", "2", "--request-id", "r1", "train.py")
    (job,) = stack.jobs()
    assert counts(job) == ["1", "1"] and job["labels"]["slipway-roles"] == "main_workers"
    assert "settings   2 replicas" in stack.run("jobs", "show", job["displayName"]).out.splitlines()
    other = stack.run("run", "-d", "--replicas", "3", "--request-id", "r1", "train.py")
    assert other.code == 2 and "request id r1 was used before" in other.err, other.err
    for words, wanted in {(): ["1", "1"], ("--replicas", "1"): ["1"], ("--replicas", "3"): ["1", "2"]}.items():
        like = stack.well("submit", "--like", job["displayName"], "--dry-run", *words)
        assert counts(json.loads(like.out)) == wanted, like.err


def test_a_template_has_its_own_machines(open_to_commands: Stack) -> None:
    refused = open_to_commands.run("submit", "crew", "--replicas", "2")
    assert refused.code == 2 and "crew has its own number of machines" in refused.err, refused.err
    assert "fix: leave out --replicas 2" in refused.err and not open_to_commands.jobs()
    assert open_to_commands.run("run", "--replicas", "0", "train.py").code == 2
    assert "--replicas, the machines of your own command" in open_to_commands.run("run", "--num-nodes", "2", "x").err


def test_python_has_them_too(open_to_commands: Stack, monkeypatch: pytest.MonkeyPatch) -> None:  # N12
    for name, value in open_to_commands.env().items():
        monkeypatch.setenv(name, value)
    slipway.submit("hello", code=open_to_commands.folder, command="python train.py", replicas=3)
    assert counts(open_to_commands.jobs()[0]) == ["1", "2"]
    with pytest.raises(ConfigError, match="1 setting wrong"):
        slipway.submit("hello", code=open_to_commands.folder, replicas=0)


ONCE = 'test -e "$SLIPWAY_OUTPUT/seen" || { touch "$SLIPWAY_OUTPUT/seen"; test $RANK = 0 || exit 3; }; python sums.py'


@pytest.mark.journey
@pytest.mark.parametrize(
    ("flags", "line", "code", "said"),
    [
        # cellarium-ml 56, NeMo-Run 296: WORLD_SIZE counts machines, and torchrun's processes count themselves.
        ((), TORCHRUN.replace("node 1 ", "node 2 "), 0, {"of 4: sum 10": 4}),
        # pytorch-operator 125: workers that are there before the one whom they meet.
        ((), "test $RANK = 1 || sleep 3; python sums.py", 0, {"of 2: sum 3": 2}),
        # Samudra 805, pytorch 175699: machines that do not meet at all would train twice.
        ((), "torchrun --standalone --nproc-per-node 1 sums.py", 2, {"sum": 0}),
        # dstack 2123, 4146: one that fails ends all, which would wait for it.
        ((), "test $RANK = 0 || exit 3; sleep 600", 4, {"ended with 3": 1}),
        # dstack 3130, 3157: one that has done its part is not begun again.
        ((), "test $RANK = 1 || { sleep 3; echo was last; }", 0, {"was last": 1}),
        # torchrun's machines meet again in the next attempt.
        (("--retries", "1"), ONCE, 0, {"of 2: sum 3": 2}),
    ],
    ids=["processes", "late-chief", "standalone", "one-fails", "one-ends", "retried"],
)
def test_machines_meet_fail_and_end_as_people_expect(
    torch: Stack, flags: tuple[str, ...], line: str, code: int, said: dict[str, int]
) -> None:
    done = torch.run("run", "--replicas", "2", *flags, line)
    lines = [each for each in done.out.splitlines() if "slipway: runs" not in each]
    assert done.code == code, done.out + done.err
    assert {text: sum(text in each for each in lines) for text in said} == said, done.out
