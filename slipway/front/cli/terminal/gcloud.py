"""`--format gcloud`: a request as the file and the command that gcloud takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from slipway.base.errors import ConfigError
from slipway.model.kinds import CUSTOM_JOB

if TYPE_CHECKING:
    from slipway.using.context import Context
    from slipway.using.submission.candidate import Candidate
    from slipway.using.submission.prepared import PreparedSubmission


format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["gcloud"]),
    help=f"gcloud: the request as the job file and the command of {CUSTOM_JOB.gcloud}.",
)


def check_format(format_: str | None, *others: tuple[str, bool], dry_run: bool) -> None:
    """Raise ConfigError where a format does not go with `others`, each with whether it was asked for."""
    if format_ is None:
        return
    if not dry_run:
        why = "without --dry-run the job is sent, and nothing is printed for gcloud"
        raise ConfigError(f"--format {format_} prints a request", why=why, fix="add --dry-run")
    for other, given in others:
        if given:
            raise ConfigError(f"--format {format_} and {other} don't go together", fix=f"leave out {other}")


def as_formatted(context: Context, prepared: PreparedSubmission, candidate: Candidate) -> str:
    """Return the file and the command. Raises ConfigError for another kind than a custom job."""
    from slipway.authoring.gcloud.job_file import job_file

    catalog = context.catalog
    about = f"template {prepared.template.name} of stack {catalog.stack}, as slipway submit would send it"
    return job_file(candidate.body, prepared.kind, project=catalog.project, region=candidate.region, about=about)
