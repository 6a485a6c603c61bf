"""`make verify-cloud` proven against the local cloud: price first, everything taken away again, killed or not. (N15)"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.checkouts.checkout import PROJECT, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.shell import Done, Started, wait_for
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.journey

Start = Callable[..., Started]


@pytest.fixture
def verify(clone: Path, tmp_path: Path, cloud: LocalCloud, new_checkout: NewCheckout) -> Checkout:
    """The stack that verify-cloud deploys, from a clone, as the project's owner."""
    shell = new_checkout(tmp_path, cloud, "verify")
    return Checkout(clone, cloud, shell.engine, shell.state, "verify", shell.variables)


@pytest.fixture
def start(verify: Checkout) -> Iterator[Start]:
    started: list[Started] = []

    def begin(*flags: str) -> Started:
        command = (sys.executable, "-m", "journey.verify_cloud", "--project", PROJECT, *flags)
        started.append(verify.start(*command, role="owner"))
        return started[-1]

    yield begin
    for one in started:
        one.kill_tree()


def run_file(verify: Checkout) -> Path:
    return verify.folder / ".slipway" / "verify" / f"{PROJECT}-us-central1" / "run.json"


def trainer_is_there(verify: Checkout) -> bool:
    found = verify.cloud.rest("GET", f"/v1/projects/{PROJECT}/serviceAccounts?pageSize=100")["accounts"]
    return any(account["email"].startswith("slipway-verify-trainer@") for account in found)


def ended(started: Started) -> Done:
    return Done(started.process.wait(180), started.said, "")


def test_it_plays_the_journey_and_takes_everything_away_again(
    verify: Checkout, start: Start, deployed: Checkout
) -> None:
    others = deployed.clusters()
    started = start("--yes")
    started.until(lambda: "RUNNING" in verify.clusters().values(), "the cluster runs")
    done = ended(started)
    assert done.code == 0, done.out
    price, *_ = done.out.splitlines()
    assert price.startswith(f"on project {PROJECT}, us-central1: CPU machines, $")
    assert "at most $" in price
    assert done.out.count("succeeded") >= 2
    assert f"measured on {PROJECT}" in done.out
    assert "verify-cloud finished" in done.out.rstrip().splitlines()[-1]
    assert verify.nothing_made()
    assert verify.jobs() == [] or all(job["state"] == "JOB_STATE_SUCCEEDED" for job in verify.jobs())
    assert not trainer_is_there(verify)
    assert not run_file(verify).exists()
    assert deployed.clusters() == others


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


def test_killed_with_its_watchdog_the_next_call_takes_everything_away_first(verify: Checkout, start: Start) -> None:
    started = start("--yes")
    started.until(lambda: "RUNNING" in verify.clusters().values(), "the cluster runs")
    leash = ["journey.watchdog", str(run_file(verify))]
    (watchdog,) = [process for process in psutil.process_iter() if words(process)[-2:] == leash]
    watchdog.kill()
    started.kill_tree()
    done = ended(start("--yes", "--max-usd", "0.01"))
    assert done.code == 5, done.out
    assert "an earlier call was killed: cleans up after it first" in done.out
    assert verify.nothing_made()
    assert not trainer_is_there(verify)
    assert not run_file(verify).exists()


def words(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (
            ("--yes", "--max-usd", "0.01"),
            5,
            ("60 minutes may cost $", "the ceiling is $0.01", "fix: allow it with MAX_USD="),
        ),
        ((), 8, ("nobody is there to accept the price", "fix: run it on a terminal, or add YES=1")),
    ],
    ids=["above-the-ceiling", "not-agreed"],
)
def test_without_an_agreed_price_nothing_is_sent(
    verify: Checkout, start: Start, flags: tuple[str, ...], code: int, words: tuple[str, ...]
) -> None:
    log = verify.cloud.state / "cloud.log"
    before = log.stat().st_size
    done = ended(start(*flags))
    assert done.code == code, done.out
    for word in words:
        assert word in done.out
    assert log.stat().st_size == before, "something was sent"
    assert not run_file(verify).exists()
