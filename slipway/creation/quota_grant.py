"""The grant of quota that clusters wait for before they are made. Google may take seconds, or days."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from slipway.clock import poll
from slipway.cloud.quotas import Quotas
from slipway.deployment.live_reader import limits
from slipway.errors import PolicyError
from slipway.formatting import join, span
from slipway.live import Live
from slipway.quota.increases import requested
from slipway.quota.metrics import request_command
from slipway.quota.request import Requested, lacks, more

WITHIN_S = 30.0
EVERY_S = 2.0


@dataclass(frozen=True)
class _Missing:
    """`enough` is the limit that is needed, `limit` the one there is; `asked`, what became of the request."""

    metric: str
    enough: int
    limit: int
    asked: Requested | None

    @property
    def outlook(self) -> Literal["undecided", "too little", "refused"]:
        """Undecided also while what was granted is not in force yet; too little, where it took over a request of
        somebody else's as it was."""
        asked = self.asked
        if asked is None or asked.state not in ("pending", "granted"):
            return "refused"
        enough = asked.state == "pending" or not more(self.enough, asked.asked or 0)
        return "undecided" if enough else "too little"


def await_grant(
    quotas: Quotas,
    region: str,
    awaited: Mapping[str, int],
    clusters: Collection[str],
    say: Callable[[str], None],
    *,
    within_s: float = WITHIN_S,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Returns when the limits of a region are what is `awaited`, by metric. `clusters` are the ids of those that wait.

    What is still being decided is waited for a little. Raises PolicyError for what is not granted by then, CloudError
    when the limits can't be read.
    """
    missing: list[_Missing] = []
    for spent in poll(sleep, EVERY_S, within=within_s, now=clock):
        missing = _missing(quotas, region, awaited)
        if not missing:
            return
        if any(one.outlook != "undecided" for one in missing):
            break
        if not spent:
            say(f"waiting up to {span(within_s)} for quota: {join(one.metric for one in missing)}")
    raise _refusal(missing, region, clusters)


def _missing(quotas: Quotas, region: str, awaited: Mapping[str, int]) -> list[_Missing]:
    now = limits(quotas.infos(awaited), region) if awaited else {}
    short = {metric: found for metric, found in now.items() if lacks(found, awaited[metric])}
    if not short:
        return []
    asked = {one.quota_id: one for one in quotas.preferences(region)}
    live = Live(clusters=(), jobs=(), limits=now, catalog=None, preferences=asked)
    return [
        _Missing(metric, awaited[metric], found.limit, requested(live, metric, awaited[metric]))
        for metric, found in sorted(short.items())
    ]


def _refusal(missing: list[_Missing], region: str, clusters: Collection[str]) -> PolicyError:
    outlooks, fixes = {one.outlook: one for one in missing}, []
    if "undecided" in outlooks:
        fixes.append("run pulumi up again once it is granted, which slipway quota shows")
    if "too little" in outlooks:
        fixes.append("run pulumi up again, which asks for more: it has taken over what somebody else asked for")
    if one := outlooks.get("refused"):
        fixes.append(f"lower `replicas` in the stack file, or ask again: {request_command(one.metric, one.enough)}")
    return PolicyError(
        f"quota does not suffice yet, so {join(sorted(clusters))} {'is' if len(clusters) == 1 else 'are'} not made",
        why="\n".join(
            f"quota {one.metric} in {region}: needs {one.enough:,}, limit {one.limit:,}; {one.asked or 'not asked for'}"
            for one in missing
        ),
        fix="\n".join(fixes),
    )
