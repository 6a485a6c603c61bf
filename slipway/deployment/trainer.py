"""The service account that jobs run as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slipway.template import JobTemplate


def email(account: str, project: str) -> str:
    """The address of an account id; a project of a domain (`example.com:team`) is written the other way round."""
    domain, colon, name = project.rpartition(":")
    return f"{account}@{f'{name}.{domain}' if colon else project}.iam.gserviceaccount.com"


def project_roles(templates: Iterable[JobTemplate]) -> tuple[str, ...]:
    """What jobs that run as the trainer need on the project beside its buckets: some write metrics to Vertex AI."""
    writes = any(one.experiment or one.tensorboard for one in templates if one.service_account is None)
    return ("roles/aiplatform.user",) if writes else ()
