"""A sweep that nobody has sent."""

from __future__ import annotations

import contextlib
from itertools import islice

from slipway.cloud.failures import CloudError
from slipway.context import Context
from slipway.errors import ResourceError
from slipway.formatting import nearest
from slipway.labels import STACK_LABEL, SWEEP_LABEL, label_filter

_RECENT = 100
_SHOWN = 3


def unknown_sweep(context: Context, sweep: str) -> ResourceError:
    """The error that it is, with the recent one that was most likely meant."""
    stack, recent = context.catalog.stack, list[str]()
    with contextlib.suppress(CloudError):
        found = context.vertex.jobs_of_every_kind(f"{label_filter({STACK_LABEL: stack})} AND labels.{SWEEP_LABEL}:*")
        recent = [*dict.fromkeys(job.labels[SWEEP_LABEL] for job in islice(found, _RECENT))]
    near = nearest(sweep, sorted(recent))
    sweeps = [near] if near else recent[:_SHOWN]
    listing = "\n".join(f"slipway jobs list --sweep {one}" for one in sweeps) or "slipway jobs list"
    return ResourceError(f"no jobs of sweep {sweep}", why=f"stack {stack} has none", fix=listing)
