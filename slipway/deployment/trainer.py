"""The service account that jobs run as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slipway.template import JobTemplate

_CALLED = "Slipway trainer ("


def email(account: str, project: str) -> str:
    """The address of an account id; a project of a domain (`example.com:team`) is written the other way round."""
    domain, colon, name = project.rpartition(":")
    return f"{account}@{f'{name}.{domain}' if colon else project}.iam.gserviceaccount.com"


def display_name(stack: str) -> str:
    """What the account is called, so that people and other stacks see whose it is."""
    return f"{_CALLED}{stack})"


def owner(called: str) -> str:
    """The stack that an account's display name tells; empty for one that somebody made by hand."""
    return called.removeprefix(_CALLED).removesuffix(")") if called.startswith(_CALLED) else ""


def project_roles(templates: Iterable[JobTemplate]) -> tuple[str, ...]:
    """What jobs that run as the trainer need on the project beside its buckets: some write metrics to Vertex AI."""
    writes = any(one.experiment or one.tensorboard for one in templates if one.service_account is None)
    return ("roles/aiplatform.user",) if writes else ()
