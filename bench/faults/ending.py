"""The ending of a journey: the living resources, the state and the jobs; and the difference of two endings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from slipway.model.labels import RACE
from tests.checkouts.checkout import PROJECT, REGION, Checkout
from tests.checkouts.shell import wait_for

Outcome = Literal["survived", "lost", "doubled", "orphaned", "killed", "stuck", "other", "silent", "absent"]
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)")
# The carrier of the hook that makes clusters. A run that takes over an existing cluster does not need it.
_CARRIER = "creation"
# Of an empty stack, one destruction makes the engine's own record of it, and the next one deletes that.
_RECORD = "pulumi:pulumi:Stack"
# A cluster whose failed predecessor still holds the name is made under the same id with a number behind it.
_COUNTED = re.compile(r"\b([a-z][a-z0-9-]*-[0-9a-f]{7})-\d+\b")
# A pool may have begun to grow for a job that was cancelled just then. The service ends that by itself.
_SCALING = "UPDATING"
OTHER_REGION, RACED_REGION = "us-east4", "us-east5"
"""The other region where a journey may make a cluster, and one more of races."""
_REGIONS = (REGION, OTHER_REGION, RACED_REGION)
_RUN = "vertex-ai-pipelines-run-billing-id"
_PIPELINES = f"/v1beta1/projects/{PROJECT}/locations/{REGION}/pipelineJobs"
_WAITING = frozenset({"JOB_STATE_QUEUED", "JOB_STATE_PENDING"})
_LIVING = _WAITING | {"JOB_STATE_RUNNING"}


@dataclass(frozen=True)
class Job:
    """A job. `ran`: whether the person's code began on it; a copy's does not. `races`: whether it is a race's leg."""

    request: str
    state: str
    ran: bool = True
    races: bool = False


@dataclass(frozen=True)
class Ending:
    """An ending. `clusters` are ids with their states, `known` those of them that the engine's state has; `things` are
    all other texts that two endings must have in common."""

    clusters: frozenset[tuple[str, str]]
    known: frozenset[str]
    things: frozenset[str]
    jobs: tuple[Job, ...]
    stays: bool

    @property
    def orphans(self) -> frozenset[str]:
        return frozenset(id_ for id_, _ in self.clusters) - self.known


def of(checkouts: Sequence[Checkout]) -> Ending:
    """Return the ending of all stacks of a stage; the first one has the jobs."""
    first, *others = map(read, checkouts)
    for other in others:
        first = replace(
            first,
            clusters=first.clusters | other.clusters,
            known=first.known | other.known,
            things=first.things | other.things,
        )
    return first


def read(checkout: Checkout) -> Ending:
    """Return the present ending, as the owner sees it without a proxy."""
    cloud = checkout.cloud
    jobs = [
        Job(one["labels"].get("slipway-request", ""), one["state"], races=RACE in json.dumps(one))
        for one in _jobs(checkout)
    ]
    clusters = frozenset(one for region in _REGIONS for one in checkout.clusters(region).items())
    mine = (one for one in checkout.resources() if one["type"] != _RECORD)
    resources = [one for one in mine if not str(one["urn"]).endswith(f"::{_CARRIER}")]
    known = frozenset(_last(str(one.get("id", ""))) for one in resources)
    things = {f"{one['urn']} {_id(one)}{' to be deleted' if one.get('delete') else ''}" for one in resources}
    things |= {f"pending operation {one['type']} {one['resource']['urn']}" for one in _pending(checkout)}
    for bucket in checkout.buckets():
        things |= {
            f"gs://{bucket}",
            f"gs://{bucket} policy {_policy(cloud.rest('GET', f'/storage/v1/b/{bucket}/iam'))}",
        }
        things |= {
            f"gs://{bucket}/{one['name']}"
            for one in cloud.every(f"/storage/v1/b/{bucket}/o", "items")
            if bucket.endswith("-catalog") and not str(one["name"]).endswith("asked-for.json")
        }
    accounts = cloud.every(f"/v1/projects/{PROJECT}/serviceAccounts", "accounts")
    things |= {f"account {one['email']}" for one in accounts}
    things.add(f"project's policy {_policy(cloud.rest('POST', f'/v1/projects/{PROJECT}:getIamPolicy', {}))}")
    things.add(f"catalog {_catalog(checkout)}")
    return Ending(
        clusters,
        known,
        frozenset(things),
        tuple(sorted(jobs, key=str)),
        Job("stays", "JOB_STATE_RUNNING") in jobs,
    )


def custom_jobs(checkout: Checkout) -> list[Any]:
    """Return the stack's custom jobs of all regions."""
    return [one for region in _REGIONS for one in checkout.jobs(region=region)]


def _jobs(checkout: Checkout) -> list[Any]:
    """Return the jobs of the stack. A pipeline counts as one, once its first task waits for the pool; so does a task
    that an ended one has left."""
    pipelines = checkout.cloud.every(
        f'{_PIPELINES}?filter=labels.slipway-stack="{checkout.identity.label}"', "pipelineJobs"
    )
    runs = {one["labels"][_RUN] for one in pipelines if "endTime" not in one}
    wait_for(lambda: runs <= {one["labels"].get(_RUN) for one in checkout.jobs()}, "each pipeline has begun")
    for one in pipelines:
        one["state"] = one["state"].replace("PIPELINE_STATE_", "JOB_STATE_")
    return [*pipelines, *(one for one in custom_jobs(checkout) if one["labels"].get(_RUN) not in runs)]


def judged(clean: Ending, now: Ending) -> tuple[Outcome, str]:
    """Return the worst difference, as a word, and its subject. A job and its copies, which ran nothing, count as
    one."""
    if clean.stays and not now.stays:
        return "killed", "the job that ran does not run any more"
    wanted, there = _count(clean), _count(now)
    if lost := sorted((wanted - there).elements()):
        return "lost", f"jobs that are missing: {', '.join(lost)}"
    if left := sorted(job.request for job in now.jobs if job.races and job.state in _WAITING):
        return "orphaned", f"legs that wait on beside the one that ran: {', '.join(left)}"
    if twice := sorted((there - wanted).elements()):
        return "doubled", f"jobs more than there should be: {', '.join(twice)}"
    if orphans := sorted(now.orphans - clean.orphans):
        return "orphaned", f"clusters that the state does not know: {', '.join(orphans)}"
    asked_for, lives = (
        Counter(f"{_plain(id_)} {'RUNNING' if state == _SCALING else state}" for id_, state in one.clusters)
        for one in (clean, now)
    )
    if more := sorted((lives - asked_for).elements()):
        return "other", f"clusters that should not be there: {', '.join(more)}"
    if fewer := sorted((asked_for - lives).elements()):
        return "other", f"clusters that are missing: {', '.join(fewer)}"
    before, after = ({_plain(thing) for thing in one.things} for one in (clean, now))
    differences = [f"+ {one}" for one in sorted(after - before)]
    differences += [f"- {one}" for one in sorted(before - after)]
    return ("other", "; ".join(differences)) if differences else ("survived", "")


def _plain(text: str) -> str:
    """Return the text without the numbers behind ids, as a failed predecessor is no part of an ending."""
    return _COUNTED.sub(r"\1", text)


def _count(ending: Ending) -> Counter[str]:
    """Count jobs by request that live, have succeeded or may; a job that was cancelled on the way to the next offer ran
    nothing."""
    return Counter(
        job.request for job in ending.jobs if job.ran and (job.state in _LIVING or job.state == "JOB_STATE_SUCCEEDED")
    )


def _pending(checkout: Checkout) -> list[Any]:
    """Return the engine's pending operations. It remembers killed creations for good, and says so in every run; the
    created resources are compared by themselves."""
    if not checkout.state_file.exists():
        return []
    latest = json.loads(checkout.state_file.read_text())["checkpoint"]["latest"] or {}
    return [one for one in latest.get("pending_operations") or [] if one["type"] != "creating"]


def _id(resource: Mapping[str, Any]) -> str:
    """Return a resource's id. The engine gives each provider a random one."""
    return "" if str(resource["type"]).startswith("pulumi:providers:") else str(resource.get("id", ""))


def _policy(body: Mapping[str, Any]) -> str:
    rows = [(one["role"], sorted(one["members"])) for one in body.get("bindings", [])]
    return json.dumps(sorted(rows))


def _catalog(checkout: Checkout) -> str:
    bucket = checkout.catalog.removeprefix("gs://")
    if bucket not in checkout.buckets():
        return "none"
    answer = checkout.cloud.session().get(f"{checkout.cloud.url}/storage/v1/b/{bucket}/o/catalog.json?alt=media")
    return _TIME.sub("T", answer.text) if answer.ok else "none"


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]
