"""The service account that jobs run as."""

from __future__ import annotations


def email(account: str, project: str) -> str:
    """The address of an account id; a project of a domain (`example.com:team`) is written the other way round."""
    domain, colon, name = project.rpartition(":")
    return f"{account}@{f'{name}.{domain}' if colon else project}.iam.gserviceaccount.com"
