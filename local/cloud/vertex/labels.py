"""Labels and display names: what the service takes."""

import unicodedata
from collections.abc import Mapping

from local.cloud.vertex.mistakes import Mistake

LABEL_LENGTH = 64
DISPLAY_NAME_LENGTH = 128


def display_name_mistakes(field: str, name: str, *, required: bool = False) -> list[Mistake]:
    if required and not name:
        return [Mistake(field, "Display name is required.")]
    if len(name) > DISPLAY_NAME_LENGTH:
        return [Mistake(field, f"Display name is longer than {DISPLAY_NAME_LENGTH} characters.")]
    return []


def label_mistakes(field: str, labels: Mapping[str, str]) -> list[Mistake]:
    """Keys and values: at most 64 characters, lowercase letters (of any script), digits, `_` and `-`."""
    found = []
    for key, value in labels.items():
        if not key or not _plain(key):
            found.append(Mistake(field, f'Label key "{key}" must be 1 to 64 lowercase letters, digits, "_" and "-".'))
        if not _plain(value):
            found.append(Mistake(f"{field}.{key}", f'Label value "{value}" may have 64 characters: {_CHARACTERS}.'))
    return found


_CHARACTERS = 'lowercase letters, digits, "_" and "-"'


def _plain(text: str) -> bool:
    # International characters are allowed: letters without an upper case are neither Ll nor Lu but Lo or Lm.
    return len(text) <= LABEL_LENGTH and all(
        character in "_-" or unicodedata.category(character) in ("Ll", "Lo", "Lm", "Mn", "Mc", "Nd")
        for character in text
    )
