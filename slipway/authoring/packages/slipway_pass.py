"""Several changes of a job's output that take effect together, although Cloud Storage changes one object at a time.

While a pass is open, an object beside the output, the journal, lists what the pass changes. If the machine is lost in
the middle, the next start undoes the pass: it deletes the objects that the pass has added, and copies the versions back
that it has replaced. Once everything is sent, the journal lists only what remains to be deleted, and the next start
deletes that. So a restart finds the output as it was before the pass, or as it is after it.
"""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Iterable, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_storage import APART, REPLICA, STATE, Storage, at_once, object_name

JOURNAL = f"{APART}/pass.json"
#: The state of a journal. It is no file of the job.
PASS = "pass"

Sleep = Callable[[float], None]


def saved(path: str) -> str:
    """Return the object with the version of a file before the pass."""
    return f"{APART}/before/{object_name(path)[0]}"


class Pass:
    """The open pass of one replica over the files below `uri`, by their paths; its methods raise StorageError."""

    def __init__(self, uri: str, replica: str, storage: Storage) -> None:
        self.uri, self.storage = uri, storage
        self.described = {REPLICA: replica, STATE: PASS}
        self.added: set[str] = set()
        self.replaced: set[str] = set()
        #: Files of `replaced` whose version before the pass is still to be copied.
        self.unsaved: set[str] = set()
        self.deleted: set[str] = set()
        self.is_open = False
        self.is_ending = False

    @property
    def is_pending(self) -> bool:
        """Return whether the pass is open or something remains to be deleted."""
        return self.is_open or bool(self.deleted)

    def begin(self, added: Iterable[str], replaced: Iterable[str], sleep: Sleep) -> None:
        """Open the pass, or extend it if it is open already: these files are about to be sent."""
        if self.is_ending:
            self.end(sleep)
        self.deleted.difference_update(added, replaced)
        known = self.added | self.replaced
        new_added, new_replaced = set(added) - known, set(replaced) - known
        if not self.is_open or new_added or new_replaced:
            all_added, all_replaced = self.added | new_added, self.replaced | new_replaced
            self._write({"added": sorted(all_added), "replaced": sorted(all_replaced)}, sleep)
            self.added, self.replaced, self.is_open = all_added, all_replaced, True
            self.unsaved |= new_replaced
        at_once(lambda path: self._save(path, sleep), sorted(self.unsaved))

    def delete(self, paths: Iterable[str]) -> None:
        """Delete these files when the pass ends."""
        self.deleted.update(paths)

    def end(self, sleep: Sleep) -> None:
        """Let the pass take effect. After a problem, call it again."""
        if not self.is_pending:
            return
        self._write({"deleted": sorted(self.deleted), "replaced": sorted(self.replaced)}, sleep)
        self.is_open = True
        self.is_ending = True
        self._finish(self.deleted, self.replaced, sleep)
        self.added.clear()
        self.replaced.clear()
        self.unsaved.clear()
        self.deleted.clear()
        self.is_open = False
        self.is_ending = False

    def recover(self, sleep: Sleep = time.sleep) -> None:
        """Undo or finish the pass that a lost machine has left open."""
        journal = self._read(sleep)
        if journal is None:
            return
        replaced = journal.get("replaced", ())
        if "deleted" not in journal:
            at_once(lambda path: self._restore(path, sleep), replaced)
        self._finish(journal.get("deleted", journal.get("added", ())), replaced, sleep)

    def _finish(self, deleted: Iterable[str], replaced: Iterable[str], sleep: Sleep) -> None:
        unneeded = [*map(self._address, deleted), *(f"{self.uri}/{saved(path)}" for path in replaced)]
        at_once(lambda uri: self.storage.drop(uri, sleep), unneeded)
        self.storage.drop(f"{self.uri}/{JOURNAL}", sleep)

    def _save(self, path: str, sleep: Sleep) -> None:
        self.storage.copy(self._address(path), f"{self.uri}/{saved(path)}", None, sleep)
        self.unsaved.discard(path)

    def _restore(self, path: str, sleep: Sleep) -> None:
        # One that isn't there was not copied before the machine was lost, and so was not replaced either.
        self.storage.copy(f"{self.uri}/{saved(path)}", self._address(path), None, sleep)

    def _address(self, path: str) -> str:
        return f"{self.uri}/{object_name(path)[0]}"

    def _write(self, journal: Mapping[str, object], sleep: Sleep) -> None:
        self.storage.write(f"{self.uri}/{JOURNAL}", json.dumps(journal).encode(), self.described, sleep)

    def _read(self, sleep: Sleep) -> Mapping[str, list[str]] | None:
        try:
            return journal_of(self.uri, self.storage, sleep)
        except StorageError as error:
            if error.code != 404:
                raise
            return None


def journal_of(uri: str, storage: Storage, sleep: Sleep = time.sleep) -> Mapping[str, list[str]]:
    """Return the journal of the files below `uri`. Raises StorageError, also for a text that is not a journal."""
    text = storage.read(f"{uri}/{JOURNAL}", sleep)
    try:
        return {key: [str(path) for path in paths] for key, paths in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        why = (
            "Slipway did not write it; without it the newest version of each file counts, so delete it if that is right"
        )
        raise StorageError(f"{uri}/{JOURNAL} can't be read: {why}") from error


def visible(found: dict[str, Any], read: Callable[[], Mapping[str, list[str]]]) -> dict[str, Any]:
    """Return the objects of `found`, by path, as a restart has to see them while a pass may be open.

    `read` returns the journal.
    """
    files = {path: entry for path, entry in found.items() if not path.startswith(f"{APART}/")}
    if JOURNAL not in found:
        return files
    journal = read()
    for path in (*journal.get("added", ()), *journal.get("deleted", ())):
        files.pop(path, None)
    if "deleted" in journal:
        return files
    for path in journal.get("replaced", ()):
        if saved(path) in found:
            files[path] = found[saved(path)]
    return files
