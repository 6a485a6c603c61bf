"""Secrets of Secret Manager, as people name them and as a job is given them: never by their values."""

from __future__ import annotations

import re

SECRET = re.compile(r"(projects/[^/\s]+/secrets/)?[A-Za-z0-9_-]{1,255}(/versions/(latest|[1-9][0-9]*))?")
"""A name, or `projects/…/secrets/NAME/versions/N`."""

NOTIFY = "SLIPWAY_NOTIFY"
"""The variable with the address that whoever waits for a job tells: a command line would show it."""


def secret_version(secret: str, project: str) -> str:
    """Return the full name of a secret's version, the latest where none is named."""
    full = secret if secret.startswith("projects/") else f"projects/{project}/secrets/{secret}"
    return full if "/versions/" in full else f"{full}/versions/latest"
