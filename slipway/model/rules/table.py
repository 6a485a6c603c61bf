"""The table of all rules, and the check of a request against it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from slipway.model.cluster import Reservation
from slipway.model.rules import code, job, reservations, strategies, study, workers
from slipway.model.rules.rule import Breach, Rule, Subject

TABLE: tuple[Rule, ...] = (
    *strategies.RULES,
    *reservations.RULES,
    *workers.RULES,
    *code.RULES,
    *job.RULES,
    *study.RULES,
)


def check(
    kind: str,
    capacity_type: str,
    body: Mapping[str, Any],
    *,
    region: str = "",
    reserved: Mapping[str, Reservation] | None = None,
    now: datetime | None = None,
) -> tuple[Breach, ...]:
    """Return every rule that a request breaks, in the table's order. `body` is the posted JSON with every placeholder
    filled. `capacity_type` may be empty. `reserved` by path. `now`: the time of a job that is to start."""
    subject = Subject(
        kind=kind, body=body, region=region, capacity_type=capacity_type, reserved=reserved or {}, now=now
    )
    return tuple(Breach(rule, text) for rule in TABLE if rule.kind in ("", kind) for text in rule.check(subject))
