"""Labels of buckets and secrets."""

import re
from collections.abc import Iterator, Mapping

_KEY, _VALUE = re.compile(r"[^\W\d_][-\w]{0,62}"), re.compile(r"[-\w]{0,63}")
_MOST, _BYTES = 64, 128


def mistakes(labels: Mapping[str, str | None]) -> Iterator[str]:
    """Yield what is wrong with labels; a value that is None is to be removed."""
    if len(labels) > _MOST:
        yield f"There are at most {_MOST} labels."
    for key, value in labels.items():
        if any(len(text.encode()) > _BYTES for text in (key, value or "")):
            yield f"The key and the value of label '{key}' have at most {_BYTES} bytes."
        if not _KEY.fullmatch(key) or key != key.lower():
            yield f"Invalid label key '{key}': a lowercase letter, then at most 62 of these, digits, '_' and '-'."
        if value and (not _VALUE.fullmatch(value) or value != value.lower()):
            yield f"Invalid value of label '{key}': at most 63 lowercase letters, digits, '_' and '-'."
