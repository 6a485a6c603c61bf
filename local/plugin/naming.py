"""Names that the provider makes up: the logical name, a dash, seven hexadecimal digits."""

import hashlib
import secrets
from dataclasses import dataclass

_DIGITS = 7


@dataclass(frozen=True)
class Naming:
    """The sources of a made-up name.

    logical: the resource's name in the program. seed: from the engine, so that preview and update agree; empty draws
    one. proposed: the name that the program's `pulumi:autonaming` configuration asks for. off: made-up names are
    forbidden.
    """

    logical: str
    seed: bytes = b""
    proposed: str = ""
    off: bool = False

    def name(self, longest: int) -> str:
        """Return a name of at most that many characters."""
        if self.proposed:
            return self.proposed[:longest]
        digits = hashlib.sha256(self.seed).hexdigest()[:_DIGITS] if self.seed else secrets.token_hex(4)[:_DIGITS]
        return f"{self.logical[: longest - _DIGITS - 1]}-{digits}"
