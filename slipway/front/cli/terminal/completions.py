"""Suggestions for completion, from the catalog and the service. Unreadable values are not suggested, and no error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from slipway.base.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.google.jobs import VertexJob
    from slipway.model.catalog.template import Template
    from slipway.using.context import Context

_RECENT = 50
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""Text that a shell takes unchanged: no other text is put into a command line, which would read more into it."""
_NAME = re.compile(r"[\w.-]*", re.ASCII)

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_Found = Callable[["Context", click.Context, str], Iterable[tuple[str, str]]]


def _completion(suggestions: _Found) -> Completion:
    """Suggest the values that continue the typed text, each with its help."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from slipway.base.formatting import short
        from slipway.front.cli.terminal.screen import visible
        from slipway.google.session import HttpPolicy
        from slipway.using.context import Context

        # With little patience: somebody has pressed a key and waits.
        context = Context(ctx.params.get("catalog"), policy=HttpPolicy(connect=1.0, read=2.0, attempts=1))
        try:
            values = dict(suggestions(context, ctx, incomplete))
        except SlipwayError:
            return []
        return [
            CompletionItem(value, help=short(visible(help), 100))
            for value, help in values.items()
            if value.startswith(incomplete) and _PLAIN.fullmatch(value)
        ]

    return complete


@_completion
def templates(context: Context, _: click.Context, __: str) -> Iterator[tuple[str, str]]:
    return ((template.name, template.summary) for template in context.catalog.templates.values())


def _named(incomplete: str) -> str:
    """Return the API's filter for names that continue the typed text."""
    return f'display_name:"{incomplete}*"' if incomplete and _NAME.fullmatch(incomplete) else ""


@_completion
def jobs(context: Context, _: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    listed = context.vertex.jobs_of_every_kind(_named(incomplete), page_size=_RECENT)
    return ((job.display_name, job.state) for job in islice(listed, _RECENT))


def _active(context: Context, filter: str) -> Iterator[VertexJob]:
    from slipway.model.kinds import KINDS

    listed = (context.vertex.active_jobs(kind, filter, page_size=_RECENT) for kind in KINDS.values())
    return chain.from_iterable(islice(jobs, _RECENT) for jobs in listed)


@_completion
def active_jobs(context: Context, _: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    return ((job.display_name, job.state) for job in _active(context, _named(incomplete)))


def _sweeps_of(context: Context, jobs: Callable[[str], Iterable[VertexJob]]) -> Iterator[tuple[str, str]]:
    from slipway.model.labels import STACK_LABEL, SWEEP_LABEL, label_filter

    wanted = f"{label_filter({STACK_LABEL: context.catalog.identity.label})} AND labels.{SWEEP_LABEL}:*"
    return ((job.labels.get(SWEEP_LABEL, ""), job.template) for job in jobs(wanted))


@_completion
def sweeps(context: Context, _: click.Context, __: str) -> Iterator[tuple[str, str]]:
    return _sweeps_of(context, lambda filter: islice(context.vertex.jobs_of_every_kind(filter), 2 * _RECENT))


@_completion
def active_sweeps(context: Context, _: click.Context, __: str) -> Iterator[tuple[str, str]]:
    return _sweeps_of(context, lambda filter: _active(context, filter))


def _template_of(context: Context, ctx: click.Context) -> Template | None:
    """Return the named template, or that of a named job: its name continues the template's."""
    named, templates = str(ctx.params.get("like") or _argument(ctx, "template")), context.catalog.templates
    fitting = [name for name in templates if named == name or (named.startswith(f"{name}-") and ctx.params.get("like"))]
    return templates[max(fitting, key=len)] if fitting else None


def _argument(ctx: click.Context, name: str) -> str:
    """Return the command's only argument: click leaves it among the rest when an option still lacks its value."""
    return str(ctx.params.get(name) or next(iter(ctx.args), ""))


@_completion
def parameters(context: Context, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Suggest `trees=` for those not given yet, the required ones first; after the `=` its possible values."""
    from slipway.model.catalog.placeholders import render
    from slipway.using.submission.parameters import describe

    template = _template_of(context, ctx)
    if template is None:
        return
    name, equals, _ = incomplete.partition("=")
    if equals:
        for parameter in template.parameters:
            if parameter.name == name:
                values = parameter.choices or parameter.kind.values
                yield from ((f"{name}={render(value)}", "") for value in values)
        return
    given = {assignment.partition("=")[0].strip() for assignment in ctx.params.get("params") or ()}
    for parameter in sorted(template.parameters, key=lambda parameter: not parameter.required):
        if parameter.name not in given:
            yield f"{parameter.name}=", "; ".join(word for word in (parameter.help, describe(parameter)) if word)


def _capacity_types(context: Context, ctx: click.Context, _: str) -> Iterator[tuple[str, str]]:
    """Suggest the template's, each with some help: zsh lists words without help behind the others."""
    from slipway.google.catalog import lookup
    from slipway.model.capacity import CAPACITY_TYPES

    template = _template_of(context, ctx)
    if template is None:
        yield from ((row.name, row.when) for row in CAPACITY_TYPES.values())
        return
    for name, offers in lookup.capacity_types(template, ctx.params.get("kind") or "").items():
        if name in CAPACITY_TYPES:
            can = any(offer.available for offer in offers)
            yield name, CAPACITY_TYPES[name].when if can else f"not available: {lookup.reason(offers[0])}"


capacity_types = _completion(_capacity_types)


@_completion
def pools(context: Context, ctx: click.Context, _: str) -> Iterator[tuple[str, str]]:
    from slipway.using.submission.order import pools_of

    template = _template_of(context, ctx)
    offers = template.offers if template else ()
    return ((pool, "") for offer in offers for pool in pools_of(offer))


@_completion
def waits(context: Context, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    return ((f"{name}=", help) for name, help in _capacity_types(context, ctx, incomplete))


@_completion
def then(context: Context, ctx: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Complete the last of a list, without those that stand before it."""
    before, comma, _ = incomplete.rpartition(",")
    taken = before.split(",")
    types = _capacity_types(context, ctx, incomplete)
    return ((f"{before}{comma}{name}", help) for name, help in types if name not in taken)


@_completion
def roles(context: Context, ctx: click.Context, _: str) -> Iterator[tuple[str, str]]:
    from slipway.using.jobs.finding import find_jobs
    from slipway.using.jobs.roles import replica_names, role_names, trial_names

    if job := _argument(ctx, "job"):
        match = find_jobs(context.vertex, job, stack=context.catalog.identity.label)[0]
        yield from ((name, "") for name in (*role_names(match), *replica_names(match), *trial_names(match)))
