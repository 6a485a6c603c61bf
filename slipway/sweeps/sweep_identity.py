"""Identity of a sweep: digests of what was asked for, and the ids that follow from them. Frozen, as sweeps that were
sent are found again by them, whatever version sent them. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slipway.catalog.model import Template
from slipway.errors import Arguments
from slipway.labels import label_value
from slipway.submission.candidates import SubmissionRequest
from slipway.sweeps.points import Point


class SweepDigests:
    """Digests of sweeps of the same points."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = json.dumps([point.values for point in points], sort_keys=True)

    def of(self, asked: SubmissionRequest) -> tuple[str, ...]:
        """Make this version's digest, and those of earlier ones, the newest first: they had the whole package with the
        launcher, and another word for the capacity type."""
        what: Mapping[str, Any] = {
            "template": asked.template,
            "params": dict(asked.params),
            "kind": asked.kind,
            "experiment": asked.overrides.experiment,
        }
        package, type_ = asked.overrides.package, asked.capacity_type
        versions = (
            {"package": asked.overrides.code or package, "capacityType": type_},
            {"package": package, "capacityType": type_},
            {"package": package, "way": type_},
        )
        return tuple(dict.fromkeys(self._of({**what, **version}) for version in versions))

    def _of(self, what: Mapping[str, Any]) -> str:
        """Hash the canonical JSON of it with the points, which are written once: they may be many."""
        texts = {"points": self._points, **{key: json.dumps(value, sort_keys=True) for key, value in what.items()}}
        text = ", ".join(f'"{key}": {texts[key]}' for key in sorted(texts))
        return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()


def sweep_id(template: Template, digest: str) -> str:
    return f"{label_value(template.name)[:40].strip('-_')}-{digest[:10]}"


def siblings(template: Template, kind: str, asked: SubmissionRequest) -> Iterator[SubmissionRequest]:
    """Yield the same runs, asked for with another capacity type, or with the usual kind named or not."""
    offered = (offer.capacity_type for offer in template.offers if offer.kind == kind)
    for capacity_type in (None, *dict.fromkeys(offered)):
        for named in (None, kind) if kind == template.kinds[0] else (kind,):
            other = replace(asked, capacity_type=capacity_type, kind=named)
            if other != asked:
                yield other


def instead(asked: SubmissionRequest, other: SubmissionRequest) -> tuple[str | Arguments, ...]:
    """Say what to give and to leave out to ask for the other one: parts of a fix."""
    ours, theirs = ({"capacity": one.capacity_type, "kind": one.kind} for one in (asked, other))
    given = {name: value for name, value in theirs.items() if value and value != ours[name]}
    left_out = {name: value for name, value in ours.items() if value and not theirs[name]}
    if not left_out:
        return (given,)
    return (given, ", without ", left_out) if given else ("without ", left_out)
