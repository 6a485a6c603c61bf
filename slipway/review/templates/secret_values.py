"""Secrets in plain text, recognised by name or form. Their values are never shown."""

from __future__ import annotations

import re

from slipway.formatting import short
from slipway.stack.secrets import FORMS

HIDDEN = "hidden"
KEEP = "put it into Secret Manager (`secrets=`), and revoke it"
_LONGEST = 4096
"""The characters that are searched: no key is longer, and a value of megabytes may be made to take hours."""
_NAMES = re.compile(r"(?i)(^|[_-])(token|secret|password|passwd|api_?key|access_?key|private_?key|credentials?)$")
_OTHERS = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}|\bsk-[\w-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bAKIA[A-Z0-9]{12,}"
    r"|\bxox[abprs]-[\w-]{10,}|://[^/\s:@]+:[^/\s:@]+@"
)
"""Forms of keys to services that are not Google's."""
# References in place of a value.
_REFERENCE = re.compile(r"\$[{(].*|projects/[^/]+/secrets/.*|gs://.*|/.*|true|false|\d{0,3}", re.IGNORECASE)


def looks_secret(value: str, name: str = "") -> bool:
    """Tell whether a value has the form of a key or a password, or a secret's name. `NAME__SECRET` names a reference to
    Secret Manager, which is right."""
    value = value[:_LONGEST]
    if any(form.search(value) for form in (_OTHERS, *(form for form, _ in FORMS))):
        return True
    return bool(_NAMES.search(name)) and not name.endswith("__SECRET") and not _REFERENCE.fullmatch(value)


def shown(value: object, name: str = "", longest: int = 60, beside: str = "") -> str:
    """Return a value as a comment may have it: in backticks and short, or `hidden`. For a long one, the part in which
    it differs from the value `beside` it."""
    text = "true" if value is True else "false" if value is False else str(value)
    part = _from_difference(text, beside, longest // 2) if len(text) > longest and beside else text
    if looks_secret(text, name) or looks_secret(part):
        return HIDDEN
    text = part
    if not beside and len(text) > longest and text.startswith("projects/"):
        text = f"…{text[-longest + 1 :]}"  # A resource's own name comes last.
    return f"`{short(text.replace('`', chr(39)), longest)}`" if text else "nothing"


def _from_difference(text: str, other: str, before: int) -> str:
    alike = next((place for place, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    return f"…{text[alike - before :]}" if alike > before else text
