"""Import ids: the forms that a type takes, each a template such as `{project}/{location}/{name}`."""

import re

from .kind import ImportIdError


def parse(token: str, given: str, forms: tuple[str, ...], **fallback: str) -> dict[str, str]:
    """Return the parts of an id by the first form that fits; parts that the form lacks come from `fallback`. Raises
    ImportIdError, also when a part is neither in the id nor in `fallback`."""
    for form in forms:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/ ]+)", re.escape(form))
        if match := re.fullmatch(pattern, given):
            parts = {**fallback, **match.groupdict()}
            if all(parts.values()):
                return parts
    raise ImportIdError(token, given, forms)
