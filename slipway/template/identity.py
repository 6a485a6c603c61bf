"""Whom a template's jobs run as, and which secrets they read as that."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.cluster import SERVICE_ACCOUNT
from slipway.rules.code import ENV_NAME
from slipway.template.declaration import Declaration

_SECRET = re.compile(r"(projects/[^/\s]+/secrets/)?[A-Za-z0-9_-]{1,255}(/versions/(latest|[1-9][0-9]*))?")
_TRAINER = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


def account_problems(template: Declaration) -> Iterator[str]:
    account, trainer = template.service_account, template.trainer
    if account is not None and "${" not in account and not re.fullmatch(SERVICE_ACCOUNT, account):
        yield f"service_account: {account!r} is not an account's address: trainer@acme-ml.iam.gserviceaccount.com"
    if trainer is not None and not _TRAINER.fullmatch(trainer):
        yield f"trainer: {trainer!r} is not a name under slipway:trainers: lowercase letters, digits and hyphens"
    if trainer is not None and account is not None:
        yield "trainer: a job runs as one account; give a trainer of the stack, or a service_account, not both"


def secret_problems(template: Declaration) -> Iterator[str]:
    for name, secret in template.secrets.items():
        if not ENV_NAME.fullmatch(name):
            yield f"secrets {name!r}: not a C identifier"
        if name in template.env or f"{name}__SECRET" in template.env:
            yield f"secrets {name!r}: it is in env as well"
        if not _SECRET.fullmatch(secret):
            yield f"secrets {name!r}: give the secret's name, or projects/…/secrets/NAME/versions/N; never its value"
