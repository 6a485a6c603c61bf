"""Record what cannot be read later: how many machines each pool has now, and how many are busy.

The hourly run of a stack does this; `slipway usage` reads it. Of a stack with a budget it also writes what was spent
this month, which `slipway submit` reads; of one that asks for it, the page of `slipway board`. It takes whoever may
write the catalog's bucket.
"""

from __future__ import annotations

import json
from datetime import datetime

import click

from slipway.base import codec, installation
from slipway.base.clock import right_time
from slipway.base.errors import ResourceError, SlipwayError
from slipway.base.formatting import counted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import catalog_and_output
from slipway.google.clusters import PersistentResource
from slipway.google.storage import Location
from slipway.google.vertex import Vertex
from slipway.model.budget import NAME, Ledger, age_words, shares
from slipway.model.catalog.model import BOARD, Catalog
from slipway.operating.history.model import Sample
from slipway.operating.history.samples import add_sample, sample_of
from slipway.using.context import Context
from slipway.using.submission.budget_check import read_ledger

_BROWSER = "https://storage.cloud.google.com"
"""The address that asks for a login, and shows an object to its readers."""


@click.command()
@catalog_and_output
def command(catalog: str | None, output: str) -> None:
    context = Context(catalog)
    published = context.catalog
    ids = {*published.retiring, *(cluster.id for cluster in published.clusters.values())}
    listed: tuple[PersistentResource, ...] = context.looked_up(Vertex.persistent_resources, screen.warn)
    ours = [cluster for cluster in listed if cluster.id in ids or cluster.made_by(published.identity.label)]
    sample = sample_of(ours, right_time(context.now, context.connection.session.time))
    added, problem = False, None
    try:
        added = add_sample(context.connection.storage, context.selected.location.bucket, sample)
    except ResourceError as error:  # The budget and the board do not wait for the mending.
        problem = error
    spent = _keep_ledger(context, sample.at) if published.budget else None
    board = _keep_board(context) if published.board else ""
    if output == "json":
        pools = [
            {"clusterId": key.cluster_id, "pool": key.pool, "live": pool.live, "busy": pool.used}
            for key, pool in sample.pools.items()
        ]
        about = {"stack": published.stack, "time": sample.at, "recorded": added}
        screen.out_json("record", {**about, "pools": pools, "ledger": spent, "board": board or None})
    else:
        done = "recorded:" if added else "not recorded; now" if problem else "recorded a moment ago; now"
        _show(done, published, sample, spent, board)
    if problem:
        raise problem


def _show(done: str, catalog: Catalog, sample: Sample, spent: Ledger | None, board: str) -> None:
    busy, live = (sum(getattr(pool, name) for pool in sample.pools.values()) for name in ("used", "live"))
    words = (
        f"{busy} of {counted(live, 'machine')} busy, in {counted(len(sample.pools), 'pool')} of stack {catalog.stack}"
    )
    screen.out(f"{done} {words}")
    if board:
        screen.out(f"board: {board}")
    if catalog.budget and spent:
        for share in shares(catalog.budget, spent, catalog.stack):
            screen.out(f"{'! ' if share.warns else ''}{share.words}")


def _keep_ledger(context: Context, now: datetime) -> Ledger:
    """Write this month's spending for the check of budgets; unreadable parts lower nothing. Raises CloudError."""
    from slipway.operating.history.ledger import ledger, month_begins
    from slipway.operating.history.reader import read_history

    history = read_history(context.connection, context.catalog, month_begins(now), now)
    for line in history.unread:
        screen.note(f"! {line}")
    spent, bucket = ledger(history), context.selected.location.bucket
    before = read_ledger(context.connection.storage, bucket) if history.unread else ""
    if isinstance(before, Ledger) and (highest := spent.at_least(before)) != spent:
        spent = highest
        screen.note(f"! the ledger stays as it was {age_words(before, now)}: less could be read now")
    content = json.dumps(codec.write(spent), separators=(",", ":")).encode()
    context.connection.storage.write(Location(bucket, NAME), content, "application/json")
    return spent


def _keep_board(context: Context) -> str:
    """Write the page and return its address; empty where it could not be written, which is told."""
    at = Location(context.selected.location.bucket, f"{BOARD}board.html")
    try:
        from slipway.operating.board.document import as_json
        from slipway.operating.board.page import page
        from slipway.operating.board.reader import Wanted, read_board

        content = page(as_json(read_board(context, Wanted(lines=False), screen.note), screen.SCHEMA)).encode()
        context.connection.storage.write(at, content, "text/html; charset=utf-8")
    except ModuleNotFoundError as problem:
        screen.note(
            f"! the board was not written: there is no {problem.name}\n  fix: {installation.install_extra('board')}"
        )
        return ""
    except SlipwayError as problem:
        screen.note(f"! the board was not written: {problem.what}{f': {problem.why}' if problem.why else ''}")
        return ""
    # Google's address shows no object of another endpoint.
    return str(at) if "storage" in context.connection.endpoints.overrides else f"{_BROWSER}/{at.bucket}/{at.name}"
