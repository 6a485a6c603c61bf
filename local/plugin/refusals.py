"""What the official provider refuses in preview: the rules of its schema for one string, in its words."""

import re
from collections.abc import Callable

Refusal = Callable[[str], str]
"""Returns why a value is refused; empty for one that is taken."""

_PROJECT = (
    "(?:(?:[-a-z0-9]{1,63}\\.)*(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?):)?"
    "(?:[0-9]{1,19}|(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)%s)"
)
_ACCOUNT_NAME = "[a-z](?:[-a-z0-9]{4,28}[a-z0-9])"
_ACCOUNTS = (
    f"{_PROJECT % ''}@[a-z]+.gserviceaccount.com$",
    "[0-9]{1,20}-compute@developer.gserviceaccount.com",
    f"{_ACCOUNT_NAME}@[-a-z0-9\\.]{{1,63}}\\.iam\\.gserviceaccount\\.com$",
)
ACCOUNT_ID = f"^{_ACCOUNT_NAME}$"
ACCOUNT_LINK = f"projects/{_PROJECT % '|-'}/serviceAccounts/({'|'.join(_ACCOUNTS)})"
_MEMBERS = "https://cloud.google.com/billing/docs/reference/rest/v1/Policy#Binding"


def unless_matching(name: str, pattern: str) -> Refusal:
    """Refuse what a pattern is not found in. `name` is the property's in Terraform."""
    found = re.compile(pattern.replace("$", r"\Z"))
    return lambda value: "" if found.search(value) else f'"{name}" ("{value}") doesn\'t match regexp "{pattern}"'


def beyond(name: str, most: int) -> Refusal:
    """Refuse a text of more characters."""
    return lambda value: (
        f"expected length of {name} to be in the range (0 - {most}), got {value}" if len(value) > most else ""
    )


def member(value: str) -> str:
    """Refuse a deleted member, and one without a kind."""
    if value.startswith("deleted"):
        return "invalid value for member (Terraform does not support IAM members for deleted principals)"
    if not re.search(".+:.+|projectOwners|projectReaders|projectWriters|allUsers|allAuthenticatedUsers", value):
        return f'invalid value "{value}" for member (IAM members must have one of the values outlined here: {_MEMBERS})'
    return ""


def bucket_name(value: str) -> str:
    """Refuse a name that Cloud Storage has for no bucket."""
    if value.startswith("goog"):
        return f'error: bucket name {value} cannot start with "goog"'
    if "google" in value:
        return f'error: bucket name {value} cannot contain "google"'
    if not re.fullmatch("[a-z0-9][a-z0-9_.-]{1,220}[a-z0-9]", value):
        page = "https://cloud.google.com/storage/docs/naming-buckets"
        return f"error: bucket name validation failed {value}. See {page}"
    wrong = next((part for part in value.split(".") if not re.fullmatch("[a-z0-9_-]{1,63}", part)), None)
    return "" if wrong is None else f"error: bucket name validation failed {wrong}"
