"""The comparison of a request with a job that bears its id: the same one, or one for something else. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from slipway.base.formatting import short, span
from slipway.google.jobs import VertexJob
from slipway.model.catalog.placeholders import render
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.labels import CODE_LABEL, RECORDS, SESSION_LABEL, SHAPE_VARIABLES
from slipway.model.own_settings import OwnSettings
from slipway.using.jobs.claim import work_buckets
from slipway.using.jobs.claimant import OtherJobError
from slipway.using.submission.request import Request

Compared = str | list[tuple[str, ...]]
_LONGEST = 200
_ELSEWHERE = frozenset((*RECORDS, *SHAPE_VARIABLES))


def same(request: Request, job: VertexJob) -> VertexJob:
    """Return `job` unchanged. Raises OtherJobError when it carries the id and is not the job that is asked for now, on
    any of its template's shapes."""
    differences = _differences(request, job)
    if differences and all(_differences(other, job) for other in request.others()):
        raise OtherJobError(
            f"request id {request.id} was used before, for something else ({job.display_name}, {job.numbered})",
            why="\n".join(differences),
            fix="use another request id, or leave it out",
        )
    return job


def _differences(request: Request, job: VertexJob) -> list[str]:
    return differing(compared(job), {**compared(request.job), "template": request.template})


def differing(then: Mapping[str, Compared], now: Mapping[str, Compared]) -> list[str]:
    """List the differences: `machines: n1-standard-8 × 2 then, n1-standard-8 × 3 now`; both have the same names."""
    return [
        f"{name}: {_shown(then[name], value) or 'none'} then, {_shown(value, then[name]) or 'none'} now"
        for name, value in now.items()
        if value != then[name]
    ]


def compared(job: VertexJob) -> dict[str, Compared]:
    """Return the properties that make a job another one, in the order of display. A stack's work bucket does not: it
    may be another one by now."""
    # Of a pipeline only its request tells the machines, not the job.
    busy = [pool for pool in job.worker_pools if pool.replicas and job.kind is not PIPELINE_JOB]
    buckets = "|".join(map(re.escape, work_buckets(job)))
    within = re.compile(rf"(gs://|/gcs/)({buckets})(?=/|$)")

    def plain(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(within.sub(r"\1work", text) if buckets else text for text in texts)

    settings = job.own_settings
    return {
        "kind": job.kind.name,
        "template": job.template,
        "code": job.labels.get(CODE_LABEL, "") or "the template's",
        "parameters": ", ".join(f"{name}={render(value)}" for name, value in sorted((job.parameters or {}).items())),
        "machines": ", ".join(f"{pool.machine.type} × {pool.replicas}" for pool in busy),
        "command": [pool.command for pool in busy],
        "arguments": [plain(pool.args) for pool in busy],
        # Parameters and machines are compared separately, and a note changes nothing.
        "environment": [plain(each for each in pool.env if each.partition("=")[0] not in _ELSEWHERE) for pool in busy],
        "time limit": span(longest) if (longest := lasting_settings(job).max_run) is not None else "",
        "retries": " on ".join(filter(None, (str(settings.retries or ""), *map(str, settings.retry_on)))),
        "trials": f"{job.max_trials}, {job.trials} at once" if job.max_trials else "",
        "model": job.model_name,
    }


def lasting_settings(job: VertexJob) -> OwnSettings:
    """Return the settings that the like of a job has: a session's time limit is none of what it runs."""
    return replace(job.own_settings, max_run=None) if SESSION_LABEL in job.labels else job.own_settings


def _shown(value: Compared, other: Compared) -> str:
    """Return a value; only the part around the first difference where it is long."""
    text = _joined(value)
    begin = 0
    if len(text) > _LONGEST:
        pairs = enumerate(zip(text, _joined(other), strict=False))
        first = next((place for place, (character, others) in pairs if character != others), 0)
        begin = max(0, first - _LONGEST // 2)
    return f"{'…' if begin else ''}{short(text[begin:], _LONGEST)}"


def _joined(value: Compared) -> str:
    return value if isinstance(value, str) else " | ".join(" ".join(words) for words in value)
