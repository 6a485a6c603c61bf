"""Names that the provider makes up: the logical name, a dash, seven hexadecimal digits."""

import hashlib

_DIGITS = 7


def made_up(logical: str, seed: bytes, longest: int) -> str:
    """Return a name of at most that many characters. `seed` is the engine's, so that preview and update agree."""
    return f"{logical[: longest - _DIGITS - 1]}-{hashlib.sha256(seed).hexdigest()[:_DIGITS]}"
