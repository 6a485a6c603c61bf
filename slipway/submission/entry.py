"""Where a submission begins, called or typed: what was given, checked; the folder of code; and its one job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from slipway.capacity import CAPACITY_TYPES, WAIT_BY_THEMSELVES
from slipway.cloud.failures import CloudError
from slipway.cloud.storage import Location
from slipway.context import Context
from slipway.errors import AnswerUnknown, ConfigError
from slipway.formatting import seconds
from slipway.submission.candidates import PreparedSubmission, SubmissionRequest
from slipway.submission.journal import SubmissionJournal
from slipway.submission.sender import RetryPolicy
from slipway.submission.submitter import SubmissionDisplay, SubmissionResult, Submitter


def waits(given: Mapping[str, str]) -> dict[str, float]:
    """`{"pool": "30m"}` in seconds, in the same order; `0` for flex-start is forever. Raises ConfigError."""
    found: dict[str, float] = {}
    for name, time in given.items():
        if name not in CAPACITY_TYPES:
            raise invalid_wait(f"{name}={time}")
        endless = name in WAIT_BY_THEMSELVES and time.strip() in ("0", "0s")
        found[name] = 0.0 if endless else seconds(time)
    return found


def invalid_wait(text: str) -> ConfigError:
    return ConfigError(
        f"invalid wait {text!r}",
        why=f"it is a capacity type and a time; the types are {', '.join(CAPACITY_TYPES)}",
        fix="pool=30m, for example",
    )


def with_code(
    context: Context, asked: SubmissionRequest, folder: Path, *, tell: Callable[[str], None], upload: bool = True
) -> SubmissionRequest:
    """`asked` with the folder's code packed in place of the template's; `tell` is told what was packed.

    Raises PolicyError where that is not allowed, and ConfigError.
    """
    from slipway.catalog.lookup import find_template
    from slipway.packages.packing import modules, pack
    from slipway.packages.working_tree import read

    catalog = context.catalog
    template = find_template(catalog, asked.template)
    modules(template)
    code = pack(catalog, template, read(folder), folder.resolve().name)
    state = f" @ {code.revision.short}" if code.commit else ", never committed"
    size = len(code.package.content) / 1000
    tell(f"code {folder}{state}  {code.count} files, {size:,.0f} kB  →  {code.location}")
    if upload:
        _upload(context, code.location, code.package.content)
    overrides = replace(asked.overrides, package=str(code.location), labels={**asked.overrides.labels, **code.labels})
    return replace(asked, overrides=overrides)


def _upload(context: Context, location: Location, content: bytes) -> None:
    """The name is the content's hash: what is there already is the same, so a lost answer is simply asked again."""
    storage = context.connection.storage
    for attempt in range(3):
        try:
            storage.create(location, content, "application/gzip")
            return
        except CloudError as problem:
            if attempt == 2 or (problem.status and problem.status < 500 and problem.status != 429):
                raise
            context.clock.sleep(2.0**attempt)


def journal_of(context: Context) -> SubmissionJournal:
    return SubmissionJournal.find(context.folder, context.environ, context.catalog.project, context.catalog.stack)


def deliver(
    context: Context,
    show: SubmissionDisplay,
    prepared: PreparedSubmission,
    request_id: str,
    *,
    repeated: bool,
    again: str,
) -> SubmissionResult:
    """Exactly one job, as `Submitter.submit` makes it and with what it raises. `again` is how to submit once more, in
    the words of whoever submits: a call or a command."""
    submitter = Submitter(context, journal_of(context), show, RetryPolicy(look_for=context.look_for))
    try:
        return submitter.submit(prepared, request_id, repeated=repeated)
    except AnswerUnknown as problem:
        problem.to_go_on(again)
        raise
