"""Machine shapes of one job on the local cloud: what is tried, told, and found again. # N3 N7 N19 N23"""

import pytest

from .catalogs import L4
from .stack import Stack
from .test_sweep import every_job, points

TELL = "code=import os; print({name: os.environ.get('SLIPWAY_' + name) for name in ('SHAPE', 'REPLICAS', 'GPUS')})"
QUOTA = {"custom_model_training_preemptible_nvidia_l4_gpus": 8, "custom_model_training_preemptible_cpus": 64}
ON_POOL, BESIDE = "pool cpu on n1-standard-4", "spot on g2-standard-4"


@pytest.fixture
def shaped(full: Stack) -> Stack:
    """`hello` on the pool's machine, which is full, else on one with an L4."""
    pool, spot = full.offer(place=0), full.offer(place=1)
    spot["request"]["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] = L4
    pool["shape"], spot["shape"] = "n1-standard-4", "g2-standard-4"
    full.publish()
    return full


def test_a_full_pool_of_one_shape_hands_the_job_on_to_the_next_and_it_stays_one_request(shaped: Stack) -> None:
    offers = shaped.well("templates", "show", "hello", "--output", "json").json["template"]["offers"]
    assert [offer["shape"] for offer in offers] == ["n1-standard-4", "g2-standard-4"]
    with shaped.settings(quota=QUOTA):
        planned = shaped.well("submit", "hello", "-p", TELL, "--dry-run", "--output", "json")
        assert f"leaves {ON_POOL} for {BESIDE}, which costs $" in planned.err and ": pool full: " in planned.err
        ways = [start["by"] for start in planned.json["earliestStarts"]]
        assert ways == [ON_POOL, BESIDE], planned.err
        sending = ("hello", "-p", TELL, "--request-id", "r1")
        done = shaped.well("submit", *sending, "--wait", "--output", "json")
        assert [passed["shape"] for passed in done.json["passedOver"]] == ["n1-standard-4"]
        job = done.json["job"]["displayName"]
        told = shaped.well("jobs", "logs", job).out
        assert "'SHAPE': 'g2-standard-4', 'REPLICAS': '1', 'GPUS': '1'" in told
        again = shaped.well("submit", *sending, "--output", "json")
        assert (again.json["job"]["displayName"], again.json["fresh"]) == (job, False), "on whatever shape it was"
        other = shaped.run("submit", "hello", "--request-id", "r1")
        assert other.code == 2 and "was used before, for something else" in other.err
        like = shaped.well("submit", "--like", job, "--dry-run", "--output", "json")
        assert " then, " not in like.err, like.err
        assert like.json["request"]["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["machineType"] == "g2-standard-4"


def test_a_sweep_chooses_one_shape_for_all_its_runs(shaped: Stack) -> None:
    with shaped.settings(quota=QUOTA):
        done = shaped.well("submit", "hello", "--sweep", points(shaped, 2), "--then", "spot", "--wait", "--yes")
    runs = every_job(shaped)
    machines = {job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["machineType"] for job in runs}
    assert len(runs) == 2 and machines == {"g2-standard-4"}, done.err


def test_a_parameter_that_a_shape_leaves_out_is_told_where_it_is_given(shaped: Stack) -> None:
    shaped.catalog["templates"]["hello"]["parameters"].append({"name": "steps", "type": "int", "default": 1})
    (task,) = shaped.spec("hello", 0)["workerPoolSpecs"]
    task["containerSpec"]["args"].append("--steps=${steps}")
    shaped.publish()
    told = "steps has no effect on g2-standard-4"
    with shaped.settings(quota=QUOTA):
        steps = ("hello", "-p", "steps=5", "--dry-run")
        for words, expected in (
            (steps, True),
            (("hello", "--dry-run"), False),
            ((*steps, "--capacity", "pool"), False),
            (("hello", "--sweep", points(shaped, 2), "-p", "steps=5", "--then", "spot", "--yes", "--dry-run"), True),
        ):
            assert (told in shaped.well("submit", *words).err) is expected, words
