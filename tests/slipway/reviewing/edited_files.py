"""The files of a change, of texts by path instead of two checkouts."""

from collections.abc import Mapping

from slipway.reviewing.change.files import Files, Sides, is_code


def edited(before: Mapping[str, str], after: Mapping[str, str]) -> Files:
    """Return the files of a change from some texts to others; those that are equal are not touched."""
    touched = frozenset(path for path in {*before, *after} if before.get(path) != after.get(path))
    texts = {path: Sides(before.get(path, ""), after.get(path, "")) for path in touched}
    code = {path: text for path, text in after.items() if is_code(path)}
    return Files(touched, touched - after.keys(), texts=texts, code=code)
