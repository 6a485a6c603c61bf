"""The folder that somebody's code comes to: one of this disk, or one made of a file, an archive, a notebook, a bucket's
objects or a repository's commit."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from slipway.authoring.packages.archive import ARCHIVE, MOST_UNPACKED, UNREADABLE, inner_path, unpack
from slipway.authoring.packages.git_address import GitAddress
from slipway.authoring.packages.notebook import NotebookScript
from slipway.authoring.packages.working_tree import MOST_BYTES, MOST_FILES, WorkingTree, read
from slipway.base.errors import ConfigError
from slipway.base.formatting import few, quoted
from slipway.google.storage import Location, Storage, StoredObject

_LOST_SLASH = re.compile(r"^((?:git\+)?(?:gs|https?|ssh|file)):/(?=[^/])")
"""The beginning of an address that was a path for a while, as `Path("gs://b/x")` is."""
_FILE = re.compile(rf"https://.*\.(py|ipynb|sh|whl)|{ARCHIVE.pattern}", re.I)
_OF_BUCKET = re.compile(r"https://storage\.(?:googleapis|cloud\.google)\.com/")
"""The beginning of a browser's address of an object."""
_AT_ONCE = 16
_SHOWN = 3


@dataclass(frozen=True)
class CodeFolder:
    path: Path
    #: As people know it: of the folder, the archive, the repository.
    name: str
    #: What it was made of, as typed; empty for a folder of this disk.
    source: str = ""
    commit: str = ""
    #: Where a single file lies, whose neighbours it may name.
    beside: Path | None = None

    @property
    def shown(self) -> str:
        return self.source or str(self.path)

    @property
    def place(self) -> Path:
        """The folder where what the command names may lie without being packed."""
        return (self.beside or self.path).resolve()

    def tree(self, tell: Callable[[str], None]) -> WorkingTree:
        """Read its files. `tell` is told of files that were deleted meanwhile. Raises ConfigError."""
        tree = read(self.path, self.source, self.commit)
        if tree.vanished:
            tell(f"! {few(tree.vanished, _SHOWN)}: deleted while the folder was packed, and left out")
        neighbours = self.beside.iterdir() if self.beside else ()
        names = (f"{path.name}/" if path.is_dir() else path.name for path in neighbours)
        return replace(tree, ignored=tuple(name for name in names if name not in tree.files)) if self.beside else tree


@contextmanager
def code_folder(code: str, storage: Storage, tell: Callable[[str], None]) -> Iterator[CodeFolder]:
    """Give the folder of what was typed for code; one that is made is gone afterwards. Raises ConfigError, and the
    errors of Cloud Storage."""
    code = _LOST_SLASH.sub(r"\1://", code)
    path, is_file = Path(code), os.path.isfile(code)  # noqa: PTH113 - a name that is too long is none, and no error
    address = None if os.path.exists(code) else GitAddress.parse(code)  # noqa: PTH110
    if not is_file and not address and "://" not in code:
        yield CodeFolder(path, path.resolve().name)
        return
    with tempfile.TemporaryDirectory(prefix="slipway-") as place:
        into = Path(place, "code")
        into.mkdir()
        if is_file:
            yield _of_file(path, into, code, tell, beside=path.parent)
        elif code.startswith("gs://"):
            yield _of_bucket(code, storage, Path(place), into, tell)
        elif address and not _FILE.fullmatch(address.url) and not _OF_BUCKET.match(address.url):
            tell(f"fetches {address.url}")
            folder, commit = address.fetch(into)
            yield CodeFolder(folder, address.name, code, commit)
        else:
            raise ConfigError(
                f"{quoted(code)} is no address of code",
                why="code is a folder, a file, an archive or a notebook, of this machine or at gs://BUCKET/NAME, "
                "or a repository as https://HOST/REPOSITORY.git@COMMIT",
                fix=_instead(code),
            )


def _instead(code: str) -> str:
    if _OF_BUCKET.match(code):
        return f"did you mean {_OF_BUCKET.sub('gs://', code)}?"
    return f"curl -LO {code}, and name the file" if code.startswith("https://") else "name one of these"


def _of_file(path: Path, into: Path, code: str, tell: Callable[[str], None], beside: Path | None = None) -> CodeFolder:
    if ARCHIVE.fullmatch(path.name):
        folder = unpack(path, into)
        return CodeFolder(folder, folder.name if folder != into else path.name.partition(".")[0], code)
    if UNREADABLE.fullmatch(path.name):
        raise ConfigError(f"can't unpack {path.name}", why="it is neither zip nor tar", fix="tar czf code.tgz FOLDER")
    if path.suffix == ".ipynb":
        notebook = NotebookScript(path.read_bytes(), path.name)
        for name, content in notebook.files.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(content)
        for line in notebook.notes:
            tell(line)
    else:
        shutil.copy(path, into)
    return CodeFolder(into, path.stem, code, beside=beside)


def _of_bucket(code: str, storage: Storage, place: Path, into: Path, tell: Callable[[str], None]) -> CodeFolder:
    """Fetch the object of this name, or all below it."""
    at = Location.parse(code)
    found = next(storage.objects(at), None) if at.name else None
    if found and found.at == at and not at.name.endswith("/"):
        file = place / at.name.rpartition("/")[2]
        _fetch(storage, found, file)
        return _of_file(file, into, code, tell)
    prefix = f"{at.name.rstrip('/')}/" if at.name else ""
    every: dict[str, StoredObject] = {}
    size = 0
    for each in storage.objects(Location(at.bucket, prefix)):
        name = _inner(code, each.at.name.removeprefix(prefix))
        if name and not each.at.name.endswith("/"):
            every[name], size = each, size + each.size
        if len(every) > MOST_FILES or size > MOST_BYTES:
            raise ConfigError(
                f"{code} is too large to be code",
                why=f"it has more than {MOST_FILES:,} objects, or {MOST_BYTES >> 20} MB",
                fix="name the folder of the code in it; data is -p data=gs://BUCKET/FOLDER",
            )
    if not every:
        raise ConfigError(f"nothing is at {code}", fix=f"see what there is: gcloud storage ls gs://{at.bucket}")
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(lambda name: _fetch(storage, every[name], into / name), every))
    return CodeFolder(into, prefix.rstrip("/").rpartition("/")[2] or at.bucket, code)


def _inner(code: str, name: str) -> str:
    try:
        return inner_path(name)
    except ValueError as problem:
        raise ConfigError(f"can't fetch {code}", why=str(problem), fix="name a folder without that object") from problem


def _fetch(storage: Storage, found: StoredObject, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    left = MOST_UNPACKED
    with file.open("wb") as written:
        for chunk in storage.chunks(found):
            left -= len(chunk)
            if left < 0:
                raise ConfigError(f"{found.at} is too large to be code", fix="data is -p data=gs://BUCKET/FOLDER")
            written.write(chunk)
