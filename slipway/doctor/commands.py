"""Commands that mend, each to be pasted as it stands. What only a person can know has none, and is said in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from slipway.catalog.model import Catalog
from slipway.cloud.jobs import VertexJob
from slipway.cloud.permissions import Bound
from slipway.doctor.picture import Picture
from slipway.findings.finding import Subject
from slipway.labels import CODE_LABEL
from slipway.submission.ending import recover

_REVOKE = {
    "bucket": "gcloud storage buckets remove-iam-policy-binding gs://",
    "account": "gcloud iam service-accounts remove-iam-policy-binding ",
    "project": "gcloud projects remove-iam-policy-binding ",
}


def revoke(on: Subject, bound: Bound, policy: Iterable[Bound]) -> str:
    """Take a grant away: `on` is `bucket acme-work`, `account ADDRESS` or `project acme`, `policy` all that is granted
    there. Where it has conditions, gcloud wants to be told which one is meant."""
    which = " --all" if bound.condition else " --condition=None" if any(one.condition for one in policy) else ""
    return f"{_REVOKE[on.what]}{shlex.quote(on.name)} --member={shlex.quote(bound.member)} --role={bound.role}{which}"


def submitted(catalog: Catalog | None, job: VertexJob) -> tuple[str, ...] | None:
    """Return the words after the template, flags aside; None where the job does not tell them all, as with a folder's
    code."""
    template = catalog.templates.get(job.template) if catalog else None
    if catalog is None or template is None or CODE_LABEL in job.labels:
        return None
    again = recover(catalog, job)
    if again is None:
        return None if job.parameters or any(one.default is None for one in template.parameters) else ()
    if again.unknown:
        return None
    kind = () if again.kind.name == again.template.kind else ("--as", again.kind.name)
    return (*again.words(), *kind)


def always_quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"


def go_on(picture: Picture) -> tuple[str, str]:
    """Nobody can tell an `up` from a `destroy` that was killed, so both ways are named."""
    busy = picture.backend is not None and picture.backend.busy
    when = "unless it is still at work" if busy else "which goes on from there"
    keep = f"to keep it: {picture.up}, which makes what its file asks for"
    return f"type again what was killed, {when}", f"{destroys(picture)}; {keep}"


def destroys(picture: Picture) -> str:
    return f"to take the stack down: SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {picture.stack}"
