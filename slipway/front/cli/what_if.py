"""Replay the jobs of the last days on other pools: waits, dollars, and what could never run.

FILE is a stack file: by default this checkout's file of the catalog's stack. It is compared with what is deployed, or
with the same file at a git REF, in its pools, the shares of its teams and its regions. The stack as it was is replayed
as well, to see how far a replay is off what happened: where it is too far, neither waits nor dollars are shown.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import click

from slipway.authoring.stack.deleted_files import fix_of_deleted
from slipway.base.clock import right_time
from slipway.base.errors import ConfigError, ResourceError
from slipway.base.files import from_here
from slipway.base.formatting import seconds, span
from slipway.deploying.deployment.checkout import file_at
from slipway.front.cli.terminal import comparison_table, screen
from slipway.front.cli.terminal.options import catalog_and_output, word_option
from slipway.google.advice import read_advice
from slipway.google.catalog.lookup import checkout
from slipway.google.failures import CloudError
from slipway.model.identity import Identity
from slipway.operating.history.reader import read_history
from slipway.operating.whatif import report
from slipway.operating.whatif.comparison import Declaration, Replayer
from slipway.operating.whatif.pools import with_bounds
from slipway.operating.whatif.suggestion import BoundsSuggestion, suggest
from slipway.using.context import Context
from slipway.using.jobs.pause import Pause, all_pauses

_TARGET = "10m"


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@word_option("--base", metavar="REF", help="Compare with FILE at this commit, not with what is deployed.")
@click.option("--days", type=click.IntRange(1, 30), default=30, show_default=True, help="So many days are replayed.")
@click.option("--suggest", is_flag=True, help="Look for the cheapest bounds that hold --target, as a diff of FILE.")
@click.option(
    "--target", metavar="TIME", help="The longest p95 wait of each pool's jobs, for --suggest.  [default: 10m]"
)
@catalog_and_output
def command(
    *,
    file: str | None,
    base: str | None,
    days: int,
    suggest: bool,
    target: str | None,
    catalog: str | None,
    output: str,
) -> None:
    if target is not None and not suggest:
        raise ConfigError("--target is what --suggest holds, and that is not asked for", fix="add --suggest")
    target = _TARGET if target is None else target
    target_s, context = seconds(target), Context(catalog)
    path = Path(file) if file else _stack_file(context)
    after = _declared(path)
    before = _declared(path, base) if base else Declaration.of(context.catalog)
    replayer = _replayer(context, days)
    heads, suggestion = (base or "NOW", "WITH THIS CHANGE"), None
    if suggest:
        suggestion = _suggestion(replayer, after, target_s, target)
        heads = (path.name, "SUGGESTED")
        edited = tuple(with_bounds(cluster, suggestion.bounds) for cluster in after.clusters)
        before, after = after, replace(after, clusters=edited)
    compared = replayer.comparison(before, after)
    spot = read_advice(context.connection, context.catalog.project, report.spot_needs(replayer.history))
    if output == "json":
        screen.out_json("what-if", report.document(compared, context.catalog.stack, suggestion, spot))
    else:
        comparison_table.show(compared, heads, spot)
        if suggestion is None and compared.unchanged:
            has = f"the same pools, shares and regions at {base}" if base else "those that are deployed"
            screen.hint(f"nothing differs: {path} has {has}; edit its replicas and look again, or try --suggest")
    if suggestion is not None:
        _print_edit(path, suggestion, shown=output != "json")


def _stack_file(context: Context) -> Path:
    """Return the file of the catalog's stack in this checkout. Raises ConfigError."""
    name = f"Pulumi.{context.catalog.stack}.yaml"
    root = checkout(context.folder) or context.folder
    path = root / "stacks" / name
    if not path.is_file():
        raise ConfigError(
            f"this checkout has no stack file of stack {context.catalog.stack}",
            why=f"there is no stacks/{name}",
            fix=fix_of_deleted(root, context.catalog.stack) or "name one: slipway what-if FILE",
        )
    return Path(from_here(path))


def _declared(path: Path, ref: str = "") -> Declaration:
    """Return what a stack file declares, with its templates' regions but at a `ref`. Raises ConfigError."""
    from slipway.authoring.stack.stack import parse, stack_of  # pydantic is needed only here
    from slipway.authoring.stack.yaml_file import from_text, load, pulumi_project
    from slipway.authoring.template.load import available
    from slipway.authoring.template.load import load as load_template

    root = path.resolve().parent.parent
    document = from_text(file_at(path, ref), f"{ref}:{path}") if ref else load(path)
    stack = parse(document, identity=Identity(pulumi_project(root), stack_of(path.name)))
    folder = root / "templates"
    there = () if ref else {*available(folder)}.intersection(stack.templates)
    regions = {name: load_template(name, folder).regions for name in sorted(there)}
    return Declaration(stack.clusters, stack.shares, (stack.region, *stack.other_regions), regions)


def _replayer(context: Context, days: int) -> Replayer:
    """Read the history. Raises ResourceError where there is nothing to replay."""
    catalog = context.catalog
    now = right_time(context.now, context.connection.session.time)
    history, pauses = read_history(context.connection, catalog, now - timedelta(days=days), now), list[Pause]()
    try:
        pauses = all_pauses(context.connection.storage, catalog.work_bucket)
    except CloudError as problem:
        history = replace(history, unread=(*history.unread, f"pauses: {problem.brief}"))
    replayer = Replayer.of(history, catalog, pauses)
    if not replayer.work.counted:
        why = "\n".join(replayer.history.unread) or f"no job of stack {catalog.stack} has run in the last {days} days"
        raise ResourceError("there is nothing to replay", why=why, fix="slipway jobs list --all")
    return replayer


def _suggestion(replayer: Replayer, declared: Declaration, target_s: float, target: str) -> BoundsSuggestion:
    """Return the suggestion. Raises ResourceError where replays can't be trusted, or no bounds hold the target."""
    if not (calibration := replayer.calibration).trusted:
        raise ResourceError(
            "what would suffice can't be told",
            why=f"a replay of the stack as it was: {calibration.words}",
            fix="slipway what-if",
        )
    suggestion = suggest(replayer.under(declared), replayer.pools(declared.clusters), target_s)
    if suggestion.outcome is None:
        least = span(suggestion.shortest or 0)
        raise ResourceError(
            f"no bounds hold a p95 wait of {target}",
            why=f"of jobs that may run on {suggestion.hinders} it is {least} with all the machines that they could use",
            fix=f"a longer target: --target {round(suggestion.shortest or 0) + 1}s",
        )
    return suggestion


def _print_edit(path: Path, suggestion: BoundsSuggestion, *, shown: bool) -> None:
    """Print the edit as a diff. Raises ConfigError for a file that shares its bounds."""
    from slipway.authoring.stack import replicas_edit

    text = path.read_bytes().decode()
    edited = replicas_edit.with_bounds(text, suggestion.bounds)
    if edited == text:
        screen.note(f"nothing cheaper was found: {path} stays as it is")
        return
    if shown:
        screen.out("")
        names = f"a/{path}", f"b/{path}"
        lines = difflib.unified_diff(text.splitlines(), edited.splitlines(), *names, lineterm="")
        screen.out("\n".join(lines))
        screen.hint("other bounds make another cluster beside this one: git apply takes this, then slipway check")
