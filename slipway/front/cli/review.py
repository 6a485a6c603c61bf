"""Show what a change does before it is deployed: jobs, capacity, cost, access, data.

Each SOURCE is the output of a preview of one stack, or JSON that this command wrote:

\b
  make events STACK=prod
  slipway review .slipway/prod.events

Live clusters, jobs and quota are read with your credentials, and nothing is written. With --gate the exit code is 5
if something needs an approval, and with --forge if it has none; with --scheduled, if anything was not announced. With
--gate it is 10 if a later commit is deployed already, unless --rollback names this one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from slipway.base.codec import from_json
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import counted, join, quoted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import review_output_option
from slipway.reviewing.sources import preview_of, text_of

if TYPE_CHECKING:
    from datetime import datetime

    from slipway.reviewing.change.files import Files
    from slipway.reviewing.forge_table import ForgeRow
    from slipway.reviewing.gate import GateObstacle, MergeResult
    from slipway.reviewing.render.comment import Place
    from slipway.reviewing.review import Review
    from slipway.reviewing.succession import Succession

EXIT_SHUT = 5
EXIT_EARLIER = 10
"""Another one than a shut gate's: CI deploys at a person's wish although the gate is shut, and never for this."""
_LATER = ("slipway.reviewing.reviewer", "slipway.reviewing.forges.forge", "slipway.reviewing.render.comment")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@review_output_option
@click.option("--files", metavar="FILE", help="What the change touches: git diff --name-status -z BASE.  [-: stdin]")
@click.option("--folder", default="", metavar="DIR", help="Where the project lies in its repository.")
@click.option(
    "--head",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="The project's folder in a checkout of the change, to say what its files change. Nothing in it is run.",
)
@click.option("--main", "mains", multiple=True, metavar="SOURCE", help="A preview or review of the base branch itself.")
@click.option("--gate", is_flag=True, help="Exit code 5 while something needs an approval.")
@click.option("--rollback", default="", metavar="COMMIT", help="Let --gate pass COMMIT though a later one is deployed.")
@click.option("--scheduled", is_flag=True, help="Exit code 5 for all that was not announced.")
@click.option(
    "--forge",
    "--github",
    "forge",
    type=click.Choice(["ask", "comment"]),
    help="In CI: have --gate ask GitHub or GitLab who approved this tree, or write the change's comment as well.",
)
@click.option("--tree", default="", help="The git tree of the merge result, which an approval is of.")
@click.option("--base", default="", help="The commit whose code makes this review.")
@click.option("--redact", is_flag=True, help="Hide people's addresses, but for those in the change's own diff.")
@click.option("--no-live", is_flag=True, help="Read nothing of the cloud.")
@click.pass_context
def command(
    context: click.Context,
    *,
    sources: tuple[str, ...],
    output: str,
    files: str | None,
    folder: str,
    head: str | None,
    mains: tuple[str, ...],
    gate: bool,
    rollback: str,
    scheduled: bool,
    forge: str | None,
    tree: str,
    base: str,
    redact: bool,
    no_live: bool,
) -> None:
    from slipway.reviewing.change.files import files_of
    from slipway.using.context import Clock

    folder = _without_dots(folder)
    _refuse_repeated(sources)
    now = Clock().now()  # The same for all reviews, so that equal findings are equal.
    touched = files_of(files, head, folder)
    compared = _compared_with_main(sources, mains, touched, now, live=not no_live)

    from slipway.reviewing.forge_table import running
    from slipway.reviewing.render.comment import Place

    reviews = _named_apart(_located(compared, head, touched))
    shown = _redacted(reviews, is_redacted=redact)
    row = running(os.environ)
    result = _show(shown, Place(tree, base, row.change, folder), output, is_comment=forge == "comment")
    behind = _refuse_earlier(context, reviews, rollback) if gate else ()
    asks_forge = bool(forge) and not scheduled
    if asks_forge:  # Asked after the review is shown, which does not depend on the forge.
        result = result or _merge_result(folder)
    if gate or scheduled:
        if asks_forge and result:
            shut = _shut_by_forge(reviews, behind, result)
        else:
            shut = _shut_by_review(reviews, row, scheduled=scheduled)
        shut.report(_addresses_of(reviews), is_redacted=redact)
        if shut.obstacles:
            context.exit(EXIT_SHUT)
    if gate and result:
        _report_approvers(result)


@dataclass(frozen=True)
class _Gate:
    """The obstacles of a deployment, and how to remove them. It is open without any."""

    obstacles: tuple[GateObstacle, ...]
    #: `announced` or `approved`.
    lacking: str
    why: str
    fix: str

    def report(self, in_diff: frozenset[str], *, is_redacted: bool) -> None:
        """Print the obstacles. `in_diff`: people's addresses in the change's own diff, which are never hidden."""
        if not self.obstacles:
            return
        for obstacle in self.obstacles:
            screen.note(f"{obstacle.stack}: {_sentence(obstacle, in_diff, is_redacted=is_redacted)}")
        why = self.why
        fix = self.fix
        if any(obstacle.refuses for obstacle in self.obstacles):
            why = ""
            fix = "correct it: no approval deploys what the deployment refuses"
        count = f"{counted(len(self.obstacles), 'finding')} not {self.lacking}"
        screen.note(f"{count}\n  why: {why}\n  fix: {fix}" if why else f"{count}\n  fix: {fix}")


def _sentence(obstacle: GateObstacle, in_diff: frozenset[str], *, is_redacted: bool) -> str:
    from slipway.reviewing.render.redaction import hidden

    sentence = hidden(obstacle.sentence, in_diff) if is_redacted else obstacle.sentence
    return sentence.replace("`", "")


def _shut_by_forge(reviews: list[Review], behind: Iterable[Succession], result: MergeResult) -> _Gate:
    """Return what the approvals of the code host do not cover."""
    from slipway.reviewing.gate import obstacles, unrelated

    why, fix = result.objection
    return _Gate((*unrelated(behind, result), *obstacles(reviews, result)), "approved", why, fix)


def _shut_by_review(reviews: list[Review], row: ForgeRow, *, scheduled: bool) -> _Gate:
    """Return what needs an approval, or an announcement if the deployment is scheduled."""
    from slipway.reviewing.gate import unannounced, unapproved

    if scheduled:
        fix = f"deploy main by hand ({row.by_hand}), or put back what was changed by hand"
        return _Gate(tuple(unannounced(reviews)), "announced", "", fix)
    fix = f"have the {row.change} approved, or change what it says"
    return _Gate(tuple(unapproved(reviews)), "approved", "", fix)


def _report_approvers(result: MergeResult) -> None:
    if result.approvers:
        screen.note(f"approved by {join(result.approvers)}, of this tree ({result.tree[:12]})")


def _without_dots(folder: str) -> str:
    """Return a folder in its repository as git has it: empty for the root."""
    return "" if folder in (".", "./") else folder.removeprefix("./").strip("/")


def _refuse_repeated(sources: Iterable[str]) -> None:
    repeated = [source for source, times in Counter(sources).items() if times > 1]
    if repeated:
        raise ConfigError(f"{quoted(repeated[0])} is named twice", fix="name each source once")


def _compared_with_main(
    sources: Iterable[str], mains: Iterable[str], files: Files, now: datetime, *, live: bool
) -> list[_Sourced]:
    """Return the reviews of sources, each with marks on what the base branch has already."""
    from slipway.reviewing.change.files import NO_FILES

    reviews = _reviews(sources, files, now, live=live)
    main = {each.review.stack: each.review for each in _reviews(mains, NO_FILES, now, live=live)}

    from slipway.reviewing.reviewer import mark_known

    marked = []
    for each in reviews:
        known = main.get(each.review.stack)
        if known is not None:
            each = replace(each, review=mark_known(each.review, known))
        marked.append(each)
    return marked


def _located(reviews: list[_Sourced], head: str | None, files: Files) -> list[_Sourced]:
    """Return the reviews with the places of findings in the checkout of the change."""
    if not head:
        return reviews

    from slipway.reviewing.render.places import located

    return [replace(each, review=located(each.review, Path(head), files.touched)) for each in reviews]


def _named_apart(reviews: list[_Sourced]) -> list[Review]:
    """Return the reviews. Stacks of several projects that have one name get their project's folder as well."""
    times = Counter(each.review.stack for each in reviews)
    named = []
    for each in reviews:
        review = each.review
        if times[review.stack] > 1 and each.folder:
            review = replace(review, stack=f"{review.stack} in {each.folder}")
        named.append(review)
    return named


def _redacted(reviews: list[Review], *, is_redacted: bool) -> list[Review]:
    if not is_redacted:
        return reviews

    from slipway.reviewing.render.redaction import redacted

    return [redacted(review) for review in reviews]


def _addresses_of(reviews: list[Review]) -> frozenset[str]:
    """Return people's addresses in the changes' own diffs."""
    return frozenset[str]().union(*(review.addresses for review in reviews))


def _show(shown: list[Review], place: Place, output: str, *, is_comment: bool) -> MergeResult | None:
    """Print the reviews and write the comment. Return the merge result of the comment; None without a comment."""
    try:
        result = _commented(shown, place) if is_comment else None
    except SlipwayError:
        _print(shown, place, output)  # The run's summary has it, where the pull request has not.
        raise
    _print(shown, replace(place, tree=result.tree) if result else place, output)
    return result


def _print(shown: list[Review], place: Place, output: str) -> None:
    from slipway.reviewing.render.comment import comment
    from slipway.reviewing.render.text import plain_text
    from slipway.reviewing.review import write_all

    if output == "json":
        screen.out(screen.json_text(write_all(shown), indent=2))
    elif output == "markdown":
        screen.out(comment(shown, place).rstrip("\n"))
    else:
        screen.out("\n\n".join(plain_text(review) for review in shown))


def _merge_result(folder: str) -> MergeResult:
    from slipway.reviewing.forges.forge import forge_of

    return forge_of(os.environ, folder).merge_result()


def _refuse_earlier(context: click.Context, reviews: list[Review], rollback: str) -> tuple[Succession, ...]:
    """Exit if a later commit is deployed, and return the deployed commits that this one does not follow otherwise."""
    from slipway.deploying.deployment.checkout import commit_order
    from slipway.reviewing.forge_table import FORGES
    from slipway.reviewing.succession import rollback_to, successions

    order_of = partial(commit_order, Path.cwd())
    behind = tuple(successions(reviews, order_of, rollback_to(rollback)))
    rollbacks = [succession for succession in behind if succession.is_rollback]
    if rollbacks:
        forge = next((row for row in FORGES.values() if os.environ.get(row.ci) == "true"), None)
        for succession in rollbacks:
            screen.note(f"{succession.stack}: {succession.sentence}")
        why = "this run would remove what later commits deployed; an approval of it was given before those"
        screen.note(f"a later commit is deployed\n  why: {why}\n  fix: {rollbacks[0].fix(forge)}")
        context.exit(EXIT_EARLIER)
    return behind


def _commented(shown: list[Review], place: Place) -> MergeResult:
    """Write the comment, and its record into the folder that CI keeps; none where nothing changes."""
    from slipway.reviewing.forges.forge import forge_of
    from slipway.reviewing.record import name_of, record_of
    from slipway.reviewing.render.comment import comment

    forge = forge_of(os.environ, place.folder)
    result = forge.merge_result()
    there = result.pull_request and result.pull_request.comment
    if not there and all(review.silent for review in shown):
        return result
    record = record_of(shown, result.tree)
    if kept := os.environ.get("SLIPWAY_RECORD"):
        (Path(kept) / name_of(result.tree, place.folder)).write_text(json.dumps(record.body), encoding="utf-8")
    return forge.tell(result, f"{comment(shown, replace(place, tree=result.tree))}{record.remark}\n")


@dataclass(frozen=True)
class _Sourced:
    """A review and the source that it was read from."""

    source: str
    review: Review

    @property
    def folder(self) -> str:
        """The project's folder, from which `.slipway/prod.events` is named; empty for the current one."""
        folder = Path(self.source).parent
        if folder.name == ".slipway":
            folder = folder.parent
        return "" if folder == Path() else str(folder)


def _reviews(sources: Iterable[str], files: Files, now: datetime, *, live: bool) -> list[_Sourced]:
    """Return the reviews of Slipway's documents and of previews."""
    reviews: list[_Sourced] = []
    for source in sources:
        # The preview of a rejected stack, if there is one, says the same as its check and more.
        known = {each.review.stack for each in reviews if each.review.refused}
        for review, is_check in _of_source(source, files, now, live=live):
            if not (is_check and review.stack in known):
                reviews.append(_Sourced(source, review))
    return reviews


def _of_source(source: str, files: Files, now: datetime, *, live: bool) -> Iterator[tuple[Review, bool]]:
    """Yield the reviews of a source, and whether it is the output of `slipway check`."""
    text = text_of(source)
    try:
        body = from_json(text)
    except (ValueError, RecursionError):
        body = None
    kind = body.get("kind") if isinstance(body, dict) else None
    if kind is None:
        yield _reviewed(source, text, files, now, live=live), False
        return

    from slipway.reviewing import refused
    from slipway.reviewing.review import DOCUMENT, DOCUMENTS, read, read_all

    if kind == refused.KIND:
        for review in refused.reviews_of(body, source):
            yield review, True
    elif kind == DOCUMENTS:
        for review in read_all(body.get("reviews"), source):
            yield review, False
    elif kind == DOCUMENT:
        yield read(body, source), False
    else:
        yield _reviewed(source, text, files, now, live=live), False


def _reviewed(source: str, text: str, files: Files, now: datetime, *, live: bool) -> Review:
    from slipway.google.connection import connect
    from slipway.google.credentials import identity
    from slipway.reviewing.change import reading

    preview = preview_of(source, text)
    connection = connect(os.environ) if live else None
    who = identity(os.environ)
    with ThreadPoolExecutor(1) as aside:  # Modules are imported while the cloud answers.
        aside.map(import_module, _LATER)
        change = reading.change(preview, connection, now, stack=preview.stack, identity=who, files=files)

    from slipway.reviewing.reviewer import review

    return review(change)
