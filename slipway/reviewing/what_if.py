"""A replay of the last days' jobs on other pools: a line in a review, where the replay is trusted.

Only for reviews: a deployment's own preview imports none of it. Most changes leave pools unchanged, so the replay is
imported only where some differ (`review` of the bench).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from slipway.base.formatting import counted, span_or_dash
from slipway.deploying.engine.preview import Preview
from slipway.google.connection import Connection
from slipway.model.catalog.model import Catalog
from slipway.model.cluster_fields import same_pools
from slipway.model.findings.finding import Subject
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import UNKNOWN_PRICE, Price, bounded
from slipway.reviewing.change.change import DAYS, Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.reading import declared, deployed
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.review import Review
from slipway.using.context import BRIEF

if TYPE_CHECKING:
    from slipway.operating.history.model import History


def same_machines(old: Catalog, new: Catalog) -> bool:
    return old.clusters.keys() == new.clusters.keys() and all(
        same_pools(cluster.pools, new.clusters[name].pools) for name, cluster in old.clusters.items()
    )


def begin(preview: Preview, connection: Connection, now: datetime) -> Callable[[], History | None] | None:
    """Begin to read the history of a stack whose pools change; None where they don't, or that is unknown. It is read
    beside the rest, and left out if late: no review waits or fails for it."""
    old, new = deployed(preview)[0], declared(preview)[0]
    if not (old and new) or same_machines(old.catalog, new.catalog):
        return None
    catalog, found = old.catalog, []

    def read() -> None:
        with suppress(Exception):  # A thread's error reaches nobody, and its line is left out.
            from slipway.operating.history.reader import read_history

            found.append(read_history(connection.with_policy(BRIEF), catalog, now - timedelta(days=DAYS), now))

    def result() -> History | None:
        thread.join(20.0)
        return next(iter(found), None)

    # A daemon, which an executor's threads are not: the process ends without it.
    thread = threading.Thread(target=read, name="history", daemon=True)
    thread.start()
    return result


def with_replay(reviewed: Review, change: Change, history: History | None) -> Review:
    """Add the line to a review. A program under review may publish anything, which only leaves the line out."""
    with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return replace(reviewed, consequences=(*reviewed.consequences, *replays(change.old, change.new, history)))
    return reviewed


def replays(old: Catalog, new: Catalog, history: History | None) -> Iterator[Consequence]:
    if history is None or same_machines(old, new):
        return
    from slipway.operating.whatif.comparison import Replayer, jobs_of

    # As many are replayed in a few seconds. Less than a day tells no cost of a month.
    replayer = Replayer.of(lately(history, 10_000), old)
    if replayer.time < timedelta(days=1) or not replayer.calibration.trusted:
        return
    under = replayer.under(new)
    before = replayer.outcome(replayer.pools(old.clusters.values()))
    after = under.outcome(under.pools(new.clusters.values()))
    months = Decimal(str(replayer.time.total_seconds())) / 3600 / HOURS_OF_A_MONTH
    never = after.never_ran - before.never_ran
    median = Edit("median wait", span_or_dash(before.waits.median), span_or_dash(after.waits.median))
    p95 = Edit("p95 wait", span_or_dash(before.waits.p95), span_or_dash(after.waits.p95))
    cost = Edit("USD a month", _monthly(before.cost, months), _monthly(after.cost, months))
    wait = p95 if median.before == median.after and p95.before != p95.after else median
    waits = f"the {wait.key} would be {wait.after} instead of {wait.before}"
    yield consequence(
        "what-if",
        Subject("stack", "jobs"),
        f"{waits}, and {counted(never, 'job')} could never have run" if never > 0 else waits,
        who=f"With {jobs_of(replayer.work.counted, replayer.time.total_seconds())}",
        so=f"{cost.before} → {cost.after} a month",
        edits=(median, p95, cost),
        details=(
            *(f"{some.jobs} × {some.template or 'no template'}: {some.why}" for some in after.never[:5]),
            f"a replay; that of the stack as it was is {replayer.calibration.words}",
        ),
    )


def lately(history: History, most: int) -> History:
    """Return the part of a history in which its newest jobs were sent, with those that still ran then."""
    since = history.jobs[-most].created if len(history.jobs) > most else None
    if since is None:
        return history
    jobs = tuple(job for job in history.jobs if job.ended is None or job.ended > since)
    return replace(history, since=max(since, history.since), jobs=jobs)


def _monthly(cost: Price, months: Decimal) -> str:
    return UNKNOWN_PRICE if cost.unknown else bounded(f"${cost.known / months:,.0f}", cost)
