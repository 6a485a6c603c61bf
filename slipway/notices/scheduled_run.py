"""Notices of a run of the scheduled deployment, from its jobs, one for each stack, as GitHub lists them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from slipway.findings.finding import shape
from slipway.formatting import join
from slipway.notices.notice import STOCK_OUT, STOPPED, Notice, Notices, line

_JOB = re.compile(r"up \((?P<stack>[a-z0-9-]+)\) / up")
_STOPPED = frozenset({"failure", "timed_out"})
_ANNOUNCED = "Announced"
_SUBJECT = "schedule"


def of_run(jobs: Iterable[Mapping[str, Any]], told: Notices) -> Notices:
    """Tell which stacks' deployments stopped, and that those that went well are over. `told`: what is told already;
    machines that are not to be had have a notice of their own. Raises KeyError, TypeError or AttributeError."""
    short = {one.stack for one in told.notices if one.kind == STOCK_OUT}
    notices: list[Notice] = []
    looked: set[tuple[str, str]] = set()
    for job in jobs:
        found = _JOB.fullmatch(job["name"])
        if found is None or job["conclusion"] not in {"success", *_STOPPED}:
            continue  # What was cancelled or skipped tells nothing, nor does what never had its turn: `up (dev)`.
        stack = found["stack"]
        looked.add((STOPPED, stack))
        if job["conclusion"] in _STOPPED and stack not in short:
            notices.append(_stopped(stack, job))
    return Notices(tuple(notices), frozenset(looked))


def _stopped(stack: str, job: Mapping[str, Any]) -> Notice:
    steps = tuple(str(one["name"]) for one in job.get("steps") or () if one["conclusion"] in _STOPPED)
    if _ANNOUNCED in steps:
        sentence = f"the scheduled deployment of {stack} would have done more than what was announced"
        mend = "deploy main by hand: Actions → up → Run workflow"
    else:
        at = f" at {join(steps)}" if steps else ""
        sentence = f"the scheduled deployment of {stack} stopped{at}"
        mend = "mend what its run names (docs/runbook.md); the next one, within the hour, goes on from there"
    lines = (line(sentence, mend), line(f"the run: {job.get('html_url') or ''}"))
    return Notice(STOPPED, stack, _SUBJECT, shape([steps]), f"{stack}: the scheduled deployment stopped", lines)
