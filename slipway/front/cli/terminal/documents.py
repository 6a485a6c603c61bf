"""JSON documents of several verbs, for `slipway.base.codec.document` to write.

Times are RFC 3339 in UTC, durations seconds, prices USD as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slipway.base.errors import SlipwayError
from slipway.front.cli.terminal import screen
from slipway.model.catalog.clusters import DormantCluster
from slipway.using.context import Context
from slipway.using.jobs.description import JobDescription

if TYPE_CHECKING:
    from slipway.deploying.deployment.schedule import Due
    from slipway.using.jobs.idle import IdleAccelerators
    from slipway.using.jobs.utilization import Utilization


def out_jobs(jobs: Iterable[JobDescription], *, alone: bool, problem: SlipwayError | None = None) -> None:
    """Print jobs as JSON. `alone`: whether a single job was asked for, so that the document is that job. `problem`: the
    error with which the command ends."""
    documents = [job.document for job in jobs]
    if alone:
        screen.out_json("job", {"job": documents[0]}, problem)
    else:
        screen.out_json("jobs", {"jobs": documents}, problem)


def usage_document(usage: Utilization, idle: IdleAccelerators | None = None) -> dict[str, Any]:
    """Return shares from 0 to 1. `periodSeconds`: the seconds over which each point is the mean; 0: as measured."""
    return {"why": usage.why or None, "periodSeconds": usage.period, "idle": idle, "series": usage.rows}


def dates_document(due: Iterable[Due], dormant: Iterable[DormantCluster], now: datetime) -> dict[str, Any]:
    return {
        "due": [event.document(now) for event in due],
        "dormant": [
            {
                "cluster": cluster.name,
                "why": cluster.why,
                "since": cluster.since,
                "until": None if cluster.why != "season" or cluster.since or cluster.lacks else cluster.season.begins,
                "lacks": cluster.lacks or (),
                "words": cluster.words_at(now),
            }
            for cluster in dormant
        ],
    }


def catalog_document(context: Context) -> dict[str, Any]:
    keys = ("stack", "project", "region", "commit", "dirty")
    return {"address": str(context.selected.location), **{key: getattr(context.catalog, key) for key in keys}}
