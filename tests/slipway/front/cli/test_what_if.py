"""What `slipway what-if` prints of a replay, and of one that can't be trusted. # N16"""

import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.front.cli.terminal import comparison_table
from slipway.google.storage import Location
from slipway.model.machines.spec import MachineGroup
from slipway.operating.whatif import report
from slipway.operating.whatif.comparison import Comparison, Replayer
from slipway.operating.whatif.model import PoolDelays, ReplayedJob, Route
from slipway.operating.whatif.replay import replay
from slipway.using.jobs.pause import Pause
from tests.slipway.operating.whatif.month import DAY, month
from tests.slipway.operating.whatif.past import (
    CPU,
    SINCE,
    catalog,
    cluster,
    declared,
    history,
    job,
    offer,
    pool,
    replayed,
    told,
)

from .stack import SPOT_CPUS, Stack
from .test_sweep import points

pytestmark = pytest.mark.smoke

NOW, THEN = cluster("cpu", pool("workers", 2, 12)), cluster("cpu", pool("workers", 1, 4))
HEADS = ("NOW", "WITH THIS CHANGE")


def comparison(jobs: int = 412) -> Comparison:
    happened = replay(month(jobs, CPU), replayed(NOW, PoolDelays(20.0, 240.0, 900.0)), 30 * DAY)
    offers = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}
    here = Replayer.of(history(told(happened, NOW), [NOW]), catalog([NOW], offers))
    return here.comparison(declared(NOW), declared(THEN))


def test_both_outcomes_stand_side_by_side(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    comparison_table.show(comparison(), HEADS)
    assert "\n".join(capsys.readouterr()) == snapshot


def test_spot_jobs_stand_beside_what_google_says_of_their_machines(stack: Stack) -> None:  # N23
    with stack.settings(quota=SPOT_CPUS):
        stack.well("submit", "hello", "--capacity", "spot", "--wait")
    file = stack.folder / f"Pulumi.{stack.name}.yaml"
    file.write_text(FILE.format("{ min: 1, max: 3 }"))
    with stack.granted("roles/compute.viewer"):
        done = stack.well("what-if", str(file))
    assert "seen here: 1 Spot job, preempted 0 times" in done.err
    assert "Google: Spot obtainability 0.7 in us-central1 for 1 n1-standard-4 (most stay 1 h), preempted" in done.err


def test_a_replay_that_is_too_far_off_tells_no_waits_and_no_dollars(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    compared = comparison()
    off = replace(compared, calibration=replace(compared.calibration, error=0.4))
    comparison_table.show(off, HEADS)
    assert "\n".join(capsys.readouterr()) == snapshot
    told = report.document(off, "prod")
    assert told["before"] is None and told["after"] is None and told["neverRan"] and not told["trusted"]


FILE = """\
config:
  gcp:project: local-project
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:persistentResources:
    cpu:
      pools:
        workers: {{ machine: n1-standard-4, disk: {{ type: pd-ssd, sizeGb: 100 }}, replicas: {} }} # for all
"""
"""Of the stack that tests have on a local cloud."""


def test_jobs_that_ran_are_replayed_on_the_pools_of_a_file(stack: Stack) -> None:
    file = stack.folder / f"Pulumi.{stack.name}.yaml"
    file.write_text(FILE.format("{ min: 1, max: 3 }"))
    empty = stack.run("what-if", str(file))
    assert empty.code == 4 and "nothing to replay" in empty.err
    stack.well("submit", "hello", "--sweep", points(stack, 3))
    stack.all_end()
    done = stack.well("what-if", str(file), "--output", "json")
    assert (done.json["jobs"], done.json["calibration"]["jobs"], done.json["neverRan"]) == (3, 3, [])
    assert "nothing differs" in stack.run("what-if", str(file)).err
    assert "Connection pool" not in done.err
    offers = stack.catalog["templates"]["hello"]["offers"]
    stack.catalog["templates"]["hello"]["offers"] = [offer for offer in offers if offer["capacityType"] == "pool"]
    stack.publish()
    file.write_text(FILE.replace("n1-standard-4", "n1-standard-8").format(2))
    (never,) = stack.run("what-if", str(file), "--output", "json").json["neverRan"]
    assert (never["template"], never["jobs"]) == ("hello", 3)
    shown = stack.run("what-if", str(file))
    assert "no pool has n1-standard-4" in shown.out and "first come, first served" in shown.err
    assert "nothing differs" not in shown.err


def test_what_can_not_be_replayed_is_refused_in_words(standing: Stack) -> None:
    missing = standing.run("what-if")
    assert missing.code == 2 and f"no stack file of stack {standing.name}" in missing.err
    file = standing.folder / "Pulumi.x.yaml"
    file.write_text(FILE.format(2))
    assert standing.run("what-if", str(file), "--base", "main").code == 2, "it is in no checkout of git"
    assert standing.run("what-if", str(file), "--target", "5m").code == 2, "nothing would hold it"
    assert standing.run("what-if", str(file), "--suggest", "--target", "soon").code == 2


def test_the_cheapest_bounds_are_suggested_as_a_diff_that_git_applies(stack: Stack) -> None:
    """A pool of three, where one machine would do for who can wait for an hour."""
    stack.catalog["clusters"]["cpu"]["pools"]["workers"].update(min=3, max=3, autoscaled=False)
    stack.publish()
    file, other = stack.folder / f"Pulumi.{stack.name}.yaml", stack.folder / "Pulumi.other.yaml"
    file.write_text(FILE.format(3))
    commit = ("-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", "x")
    for words in (("init", "-q"), ("add", file.name), commit):
        subprocess.run(("git", *words), cwd=stack.folder, check=True)
    stack.well("submit", "hello", "--capacity", "pool", "--sweep", points(stack, 10))
    stack.all_end()
    done = stack.well("what-if", file.name, "--suggest", "--target", "1h")
    assert "-        workers:" in done.out and "replicas: 1 }" in done.out and "git apply" in done.err
    assert file.read_text() == FILE.format(3)
    subprocess.run(("git", "apply"), cwd=stack.folder, input=done.out, text=True, check=True)
    assert file.read_text() == FILE.format(1)
    told = stack.run("what-if", str(file), "--base", "HEAD", "--output", "json").json
    assert told["trusted"] and float(told["before"]["poolsCost"]) > float(told["after"]["poolsCost"])
    assert "HEAD" in stack.run("what-if", str(file), "--base", "HEAD").out
    other.write_text(FILE.format(3))
    assert "no Pulumi.other.yaml at" in stack.run("what-if", str(other), "--base", "HEAD").err.replace(
        str(stack.folder) + "/", ""
    )


def test_urgent_jobs_teams_and_unknown_waits_have_their_lines(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:  # N23, N24
    """A pool of four, then of three, with shares and a region less."""
    four, hour, groups = cluster("cpu", pool("workers", 4, 4)), 3600.0, (MachineGroup(CPU, 1),)
    jobs = [
        ReplayedJob(f"j{at}", "t", at * hour, 4.2 * hour, groups, (Route("pool"),), team=("vision", "audio")[at % 2])
        for at in range(60)
    ]
    jobs = [replace(each, yields=True) for each in jobs]
    jobs += [replace(jobs[at], name=f"u{at}", template="eval", urgent=True, run=600) for at in range(5, 60, 9)]
    happened = told(replay(jobs, replayed(four, PoolDelays(30, 60, 60)), 3 * DAY), four)
    race = [
        job(f"race-{region}", 0, waited, hour, capacity_type="flex-start", region=region, request_id="r")
        for region, waited in (("us-central1", None), ("us-east5", 90))
    ]
    legs = [replace(leg, race=("us-central1", "us-east5"), ended=leg.ended or leg.created) for leg in race]
    stack = catalog([four], {"t": [offer("pool", "cpu")], "eval": [offer("pool", "cpu")]})
    past = Replayer.of(
        history([*happened, *legs], [four], days=3), replace(stack, other_regions=("us-east5",)), [PAUSE]
    )
    three = declared(cluster("cpu", pool("workers", 3, 3)), shares={"cpu": {"audio": 2}}, regions=("us-central1",))
    compared = past.comparison(declared(four), three)
    comparison_table.show(compared, HEADS)
    assert "\n".join(capsys.readouterr()) == snapshot
    document = report.document(compared, "prod")
    assert document["trusted"] and document["pauses"] == 1 and document["unknown"] == ("flex-start",)


PAUSE = Pause(Location("work", "pauses/cpu/1"), "cpu", SINCE + timedelta(hours=50), until=SINCE + timedelta(hours=52))


def test_pauses_that_have_ended_are_part_of_a_replay(stack: Stack) -> None:  # N24
    file = stack.folder / f"Pulumi.{stack.name}.yaml"
    file.write_text(FILE.format("{ min: 1, max: 3 }"))
    stack.well("submit", "hello", "--wait")
    for words in (("pause", "cpu", "--why", "disks"), ("resume", "cpu")):
        stack.well(*words, "--yes")
    assert stack.well("what-if", str(file), "--output", "json").json["pauses"] == 1
