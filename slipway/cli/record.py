"""Record what cannot be read later: how many machines each pool has now, and how many are busy.

The hourly run of a stack does this; `slipway usage` reads it. Of a stack with a budget it also writes what was spent
this month, which `slipway submit` reads. It takes whoever may write the catalog's bucket.
"""

from __future__ import annotations

import json
from datetime import datetime

import click

from slipway import codec
from slipway.budget import NAME, Ledger, all_shares
from slipway.cli.terminal import screen
from slipway.cli.terminal.options import catalog_and_output
from slipway.clock import right_time
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.storage import Location
from slipway.cloud.vertex import Vertex
from slipway.context import Context
from slipway.formatting import counted
from slipway.history.samples import add_sample, sample_of
from slipway.labels import STACK_LABEL


@click.command()
@catalog_and_output
def command(catalog: str | None, output: str) -> None:
    context = Context(catalog)
    found = context.catalog
    ids = {*found.retiring, *(one.id for one in found.clusters.values())}
    listed: tuple[PersistentResource, ...] = context.looked_up(Vertex.persistent_resources, screen.note)
    ours = [one for one in listed if one.id in ids or one.labels.get(STACK_LABEL) == found.stack]
    sample = sample_of(ours, right_time(context.now, context.connection.session.time))
    added = add_sample(context.connection.storage, context.selected.location.bucket, sample)
    spent = _keep_ledger(context, sample.at) if found.budget else None
    if output == "json":
        pools = [
            {"clusterId": key.cluster_id, "pool": key.pool, "live": pool.live, "busy": pool.used}
            for key, pool in sample.pools.items()
        ]
        screen.out_json(
            "record", {"stack": found.stack, "time": sample.at, "recorded": added, "pools": pools, "ledger": spent}
        )
        return
    busy, live = (sum(getattr(one, name) for one in sample.pools.values()) for name in ("used", "live"))
    words = f"{busy} of {counted(live, 'machine')} busy, in {counted(len(sample.pools), 'pool')} of stack {found.stack}"
    screen.out(f"recorded: {words}" if added else f"recorded a moment ago; now {words}")
    if found.budget and spent:
        for share in all_shares(found.budget, spent, found.stack):
            screen.out(f"{'! ' if share.warns else ''}{share.words}")


def _keep_ledger(context: Context, now: datetime) -> Ledger:
    """Write what was spent this month, which submissions hold against the budget. Raises CloudError."""
    from slipway.history.ledger import ledger, month_begins
    from slipway.history.reader import read_history

    history = read_history(context.connection, context.catalog, month_begins(now), now)
    for line in history.unread:
        screen.note(f"! {line}")
    found = ledger(history)
    content = json.dumps(codec.write(found), separators=(",", ":")).encode()
    context.connection.storage.write(Location(context.selected.location.bucket, NAME), content, "application/json")
    return found
