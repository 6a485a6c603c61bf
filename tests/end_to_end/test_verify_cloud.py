"""`make verify-cloud` proven against the local cloud: price first, everything taken away again, killed or not. (N15)"""

import contextlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from journey.trial import stack
from local.demo.leftovers import MARK
from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.checkouts.digits import spare_training
from tests.checkouts.shell import Done, Started, wait_for
from tests.local.conftest import ROOT, LocalCloud

pytestmark = pytest.mark.journey

Start = Callable[..., Started]


@pytest.fixture
def verify(tmp_path: Path, cloud: LocalCloud, engine: Path, engine_home: Path, forked: Mapping[str, str]) -> Checkout:
    """The stack that verify-cloud deploys, as the project's owner, from a copy of this checkout: it keeps files beside
    its code."""
    clone, state = tmp_path / "clone", tmp_path / "engine"
    for folder in (clone, state):
        folder.mkdir()
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, clone)
    for name in ("journey", "jobs", "templates"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    spare_training(clone)
    variables = {"PULUMI_HOME": str(engine_home), MARK: str(state), **forked}
    return Checkout(clone, cloud, engine, state, "verify", variables)


@pytest.fixture
def start(verify: Checkout) -> Iterator[Start]:
    started: list[Started] = []

    def begin(*flags: str) -> Started:
        command = (sys.executable, "-m", "journey.verify_cloud", "--project", PROJECT, *flags)
        started.append(verify.start(*command, role="owner"))
        return started[-1]

    yield begin
    for process in started:
        process.kill_tree()


def run_file(verify: Checkout) -> Path:
    return verify.folder / ".slipway" / "verify" / f"{PROJECT}-us-central1" / "run.json"


def trainer_is_there(verify: Checkout) -> bool:
    found = verify.cloud.rest("GET", f"/v1/projects/{PROJECT}/serviceAccounts?pageSize=100")["accounts"]
    return any(account["email"].startswith("slipway-verify-trainer@") for account in found)


def ended(started: Started) -> Done:
    return Done(started.process.wait(), started.said, "")


@pytest.fixture
def others(cloud: LocalCloud) -> Iterator[Callable[[], list[str]]]:
    """A cluster and a bucket of another stack in the same project; asks what is left of them."""
    cluster, bucket = f"{VERTEX}/persistentResources/of-others", f"{PROJECT}-of-others-work"
    pool = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": 1,
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    }
    body = {"labels": {"slipway-stack": "others"}, "resourcePools": [pool]}
    cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId=of-others", body)
    wait_for(lambda: cloud.rest("GET", cluster)["state"] == "RUNNING", "the others' cluster runs")
    cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": bucket, "location": "US-CENTRAL1"})
    yield lambda: [cloud.rest("GET", cluster)["state"], cloud.rest("GET", f"/storage/v1/b/{bucket}")["name"]]
    cloud.rest("DELETE", cluster)
    cloud.rest("DELETE", f"/storage/v1/b/{bucket}")


def test_it_plays_the_journey_and_takes_everything_away_again_and_nothing_of_others(
    verify: Checkout, start: Start, others: Callable[[], list[str]]
) -> None:
    before = others()
    done = ended(start("--yes"))
    assert done.code == 0, done.out
    price, *_ = done.out.splitlines()
    assert price.startswith(f"on project {PROJECT}, us-central1: CPU machines, $")
    assert "at most $" in price
    assert done.out.count("succeeded") >= 2
    assert f"measured on {PROJECT}" in done.out
    most = sum(pool.max for cluster in stack(PROJECT, "us-central1").clusters for pool in cluster.pools)
    (paid,) = re.findall(r"the clusters' machines cost at most \$\S+ for (?:\d+ to )?(\d+) machines", done.out)
    assert int(paid) <= most, "those of others are theirs to pay for"
    assert "verify-cloud finished" in done.out.rstrip().splitlines()[-1]
    report = (run_file(verify).parent / "report.md").read_text()
    assert "| region | us-central1 |" in report and "the clusters' machines cost at most $" in report
    assert report.count("dask-digits") >= 2 and PROJECT not in report
    assert verify.nothing_made()
    assert verify.jobs() == [] or all(job["state"] == "JOB_STATE_SUCCEEDED" for job in verify.jobs())
    assert not trainer_is_there(verify)
    assert not run_file(verify).exists()
    assert others() == before


@pytest.mark.long
def test_killed_in_the_middle_its_watchdog_takes_everything_away(verify: Checkout, start: Start) -> None:
    started = start("--yes")
    started.until(lambda: "RUNNING" in verify.clusters().values(), "the cluster runs")
    started.kill_tree()
    assert run_file(verify).exists()
    wait_for(lambda: not run_file(verify).exists(), "the watchdog has cleaned up")
    log = (run_file(verify).parent / "watchdog.log").read_text()
    assert "Traceback" not in log
    assert verify.nothing_made(), log
    assert not trainer_is_there(verify)


@pytest.mark.long
def test_killed_with_its_watchdog_the_next_call_takes_everything_away_first(verify: Checkout, start: Start) -> None:
    started = start("--yes")
    started.until(lambda: "RUNNING" in verify.clusters().values(), "the cluster runs")
    leash = ["journey.watchdog", str(run_file(verify))]
    (watchdog,) = [process for process in psutil.process_iter() if words(process)[-2:] == leash]
    watchdog.kill()
    started.kill_tree()
    done = ended(start("--yes", "--max-usd", "0.01"))
    assert done.code == 5, done.out
    assert "an earlier call was killed" in done.out
    assert verify.nothing_made()
    assert not trainer_is_there(verify)
    assert not run_file(verify).exists()


def words(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def test_without_an_agreed_price_nothing_is_sent(verify: Checkout, start: Start) -> None:
    log = verify.cloud.state / "cloud.log"
    before = log.stat().st_size
    for flags, code, said in (
        # Above the ceiling.
        (
            ("--yes", "--max-usd", "0.01"),
            5,
            ("60 minutes may cost $", "the ceiling is $0.01", "fix: allow it with MAX_USD="),
        ),
        # Not agreed.
        ((), 8, ("nobody is there to accept the price", "fix: run it on a terminal, or add YES=1")),
    ):
        done = ended(start(*flags))
        assert done.code == code, done.out
        for word in said:
            assert word in done.out
    assert log.stat().st_size == before, "something was sent"
    assert not run_file(verify).exists()
