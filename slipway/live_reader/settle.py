"""Waits for clusters that are still being made, as a plan over an unfinished one would have to be made again."""

from __future__ import annotations

import time
from collections.abc import Callable

from slipway.errors import Timeout
from slipway.generations import Plan
from slipway.live import Live
from slipway.words import join

EVERY_S = 10.0
WITHIN_S = 2 * 3600.0


def settle(
    read: Callable[[], Live],
    decide: Callable[[Live], Plan],
    say: Callable[[str], None],
    *,
    wait: bool,
    sleep: Callable[[float], None] = time.sleep,
    every_s: float = EVERY_S,
    within_s: float = WITHIN_S,
) -> tuple[Live, Plan]:
    """What lives and the plan for it; with `wait`, read again until no current cluster is provisioning.

    Raises Timeout after `within_s` seconds.
    """
    live = read()
    plan = decide(live)
    said: tuple[str, ...] = ()
    waited = 0.0
    while wait and plan.waiting:
        names = tuple(cluster.id for cluster in plan.waiting)
        if names != said:
            say(f"waiting for {join(names)}: still being made since an earlier deployment")
            said = names
        if waited >= within_s:
            raise Timeout(
                f"{join(names)} is still being made after {within_s / 3600:g} hours",
                why="a cluster can't be used, changed or deleted while it is being made",
                fix="run pulumi up again later; slipway pools shows its state",
            )
        sleep(every_s)
        waited += every_s
        live = read()
        plan = decide(live)
    return live, plan
