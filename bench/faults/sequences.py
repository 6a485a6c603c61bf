"""Random edits with jobs running on the real engine, and the required properties after each step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench.faults import edits, ending
from bench.faults.edits import Step
from bench.faults.ending import Ending
from bench.faults.play import TOLD
from bench.faults.report import Entry
from bench.faults.stage import Ran, Stage
from tests.checkouts.shell import wait_for


def play(here: Stage, seed: int, length: int = 4) -> Entry:
    """Play a sequence on a stage with an empty stack. `why` has the broken rules, each with its step."""
    here.proxy.begin()
    refused, broken = 0, list[str]()
    jobs: set[str] = set()
    idle: frozenset[str] = frozenset()
    steps = edits.sequence(seed, length)
    for number, step in enumerate(steps):
        here.checkout.write(**step.file.keys())
        ran = here.run(here.checkout.command("up"), "deployer", {})
        refused += ran.code != 0
        now = ending.read(here.checkout)
        found = _held(here, now, jobs, ran)
        if ran.code == 0:
            found += burning(idle, {id_ for id_, _ in now.clusters}, here.checkout.outputs()["clusters"].values())
        broken += [f"step {number} ({step.edit}): {one}" for one in found]
        if broken:
            break
        _work(here, step, jobs, f"s{seed}-{number}")
        idle = _retiring_and_idle(here, jobs)
    if not broken:
        broken = [f"at the end: {one}" for one in _taken_down(here, jobs, steps[-1])]
    counted = {"steps": len(steps), "refused": refused}
    return Entry("sequences", str(seed), "broken" if broken else "held", "; ".join(broken), counted)


def _held(here: Stage, now: Ending, jobs: Iterable[str], ran: Ran) -> list[str]:
    """Return the broken requirements of every deployment: jobs run on, every cluster is known, and a refusal says what
    to do."""
    found = [f"{name} was killed" for name in sorted(jobs) if here.checkout.job_state(name) != "JOB_STATE_RUNNING"]
    if orphans := sorted(now.orphans):
        found.append(f"no state knows {', '.join(orphans)}, billed as they are")
    if ran.code != 0 and not TOLD.search(ran.said):
        found.append(f"it is refused without a word on what to do:\n{ran.said[-1500:]}")
    return found


def burning(idle: Iterable[str], there: Iterable[str], current: Iterable[str]) -> list[str]:
    """Return idle cost: clusters that were retiring and idle before a deployment and are still there, unless an edit
    has taken them back; idle cost is bounded by the schedule. All are ids of clusters."""
    still = sorted(set(idle) & set(there) - set(current))
    return [f"{id_} was idle and retiring before this deployment, and is still there" for id_ in still]


def _retiring_and_idle(here: Stage, jobs: Iterable[str]) -> frozenset[str]:
    if not here.checkout.resources():
        return frozenset()
    retiring = set(here.checkout.outputs().get("retiring", []))
    used = {_cluster_of(here, name) for name in jobs}
    return frozenset(retiring - used)


def _work(here: Stage, step: Step, jobs: set[str], name: str) -> None:
    """Start a job on any pool that takes one, or end the oldest; nothing where there is none."""
    if step.work == "job":
        said = ("slipway", "submit", "nap", "-p", "say=on", "-p", "seconds=86000", "--capacity", "pool")
        ran = here.run((*said, "--request-id", name), "submitter", {})
        if ran.code == 0:
            (job,) = here.checkout.jobs(name)
            wait_for(lambda: here.checkout.job_state(job["name"]) != "JOB_STATE_PENDING", "the job starts or waits")
            if here.checkout.job_state(job["name"]) == "JOB_STATE_RUNNING":
                jobs.add(job["name"])
            else:
                _end(here, job["name"])
    elif step.work == "cancel" and jobs:
        job_name = min(jobs)
        jobs.discard(job_name)
        _end(here, job_name)


def _end(here: Stage, name: str) -> None:
    here.cloud.cancel(name)
    wait_for(lambda: "endTime" in here.cloud.rest("GET", f"/v1/{name}"), "the job ends")


def _taken_down(here: Stage, jobs: set[str], last: Step) -> list[str]:
    """Return the broken requirements: one scheduled deployment after the last job only declared resources exist, and a
    destruction leaves nothing. A refused file stays unchanged; the destruction goes on all the same."""
    for name in jobs:
        _end(here, name)
    if here.run(here.checkout.command("up"), "deployer", {}).code == 0:
        wanted = sum(cluster.season in ("none", "now") for cluster in last.file.clusters.values())
        there = here.checkout.clusters()
        if len(there) != wanted:
            return [f"{wanted} clusters are asked for, and there are {sorted(there)}"]
    ran = here.run(here.checkout.command("destroy"), "deployer", {"SLIPWAY_PURPOSE": "destroy"})
    if ran.code != 0:
        return [f"destroying ends with {ran.code}:\n{ran.said[-1500:]}"]
    left = sorted(here.checkout.clusters())
    return [f"destroying leaves {', '.join(left)}"] if left else []


def _cluster_of(here: Stage, name: str) -> str:
    body: Any = here.cloud.rest("GET", f"/v1/{name}")
    return str(body["jobSpec"]["persistentResourceId"])
