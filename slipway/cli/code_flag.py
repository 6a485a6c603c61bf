"""`--code`: packs a folder, shows what it is, and puts it where jobs read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from slipway.catalog.lookup import find_template
from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cloud.failures import CloudError
from slipway.cloud.storage import Location
from slipway.packages.packing import modules, pack
from slipway.packages.working_tree import read
from slipway.submission.candidates import SubmissionRequest


def with_code(
    context: Context, asked: SubmissionRequest, folder: Path, *, upload: bool, tell: Callable[[str], None] = screen.note
) -> SubmissionRequest:
    """The submission with its package and labels; `tell` is told what was packed.

    Raises PolicyError where that is not allowed, and ConfigError.
    """
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
