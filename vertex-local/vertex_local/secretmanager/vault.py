"""Values of secrets, as files that their owner alone can read: never in the store, never in a log."""

import os
import shutil
from pathlib import Path


class Vault:
    """The values of secrets. `secret` is a secret's id, `number` its version's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, secret: str, number: int, value: bytes) -> None:
        """Write a value, which gets its name when it is whole. Raises OSError."""
        folder = self._folder / secret
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = folder / f".{number}"
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(value)
        draft.replace(folder / str(number))

    def get(self, secret: str, number: int) -> bytes:
        """Return a value. Raises FileNotFoundError."""
        return (self._folder / secret / str(number)).read_bytes()

    def destroy(self, secret: str, number: int) -> None:
        (self._folder / secret / str(number)).unlink(missing_ok=True)

    def destroy_all(self, secret: str) -> None:
        shutil.rmtree(self._folder / secret, ignore_errors=True)
