"""The tree of all buckets, by Cloud Storage FUSE's semantics: folders are prefixes, an open file that is written is a
draft on this machine's disk, and becomes a new version of its object when it is closed or synchronised.

Whatever is asked of it may raise OSError, whose number the asking process gets.
"""

import contextlib
import errno
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from .nodes import Draft, Handle, Node, Nodes
from .objects import CHUNK, Objects

_LEAST_READ = 256 << 10
_NOREPLACE = 1


class Tree:
    """The tree, for any number of threads. Drafts are nameless files of `folder`; `say` is the job's log."""

    def __init__(self, objects: Objects, folder: Path, email: str, say: Callable[[str], None]) -> None:
        self._objects, self._folder, self._email, self._say = objects, folder, email, say
        self.nodes = Nodes()
        self._told: set[str] = set()
        self._telling = threading.Lock()

    def look_up(self, parent: Node, child: str) -> Node:
        """Return what has this name in a folder, as it is now."""
        bucket, name = parent.inside(child)
        if not name:
            return self._bucket(bucket)
        known = self.nodes.at(bucket, name)
        if known and known.draft and known.draft.dirty:
            return known
        with self._explained(f"/gcs/{bucket}/{name} can't be looked up"):
            if self._objects.under(bucket, f"{name}/", 1):
                return self.nodes.made(bucket, f"{name}/", None)
            version = self._objects.version(bucket, name)
        if version is None:
            raise FileNotFoundError(errno.ENOENT, name)
        return self.nodes.made(bucket, name, version)

    def names(self, folder: Node) -> Iterator[tuple[str, int]]:
        """Yield the names in a folder, each once and with what it is, as in `stat`."""
        if not folder.bucket:
            raise OSError(errno.ENOTSUP, "all buckets can't be listed, as in the service: name one")
        seen = {""}  # the folder's own object
        with self._explained(f"{folder.path} can't be listed"):
            for name, kind in self._objects.folder(folder.bucket, folder.name):
                if name not in seen and name not in (".", ".."):
                    seen.add(name)
                    yield name, kind
        for draft in self.nodes.drafts(folder):
            name = draft.name.removeprefix(folder.name)
            if "/" not in name and name not in seen:
                yield name, stat.S_IFREG

    def make_folder(self, parent: Node, child: str) -> Node:
        bucket, name = self._new(parent, child)
        with self._explained(f"/gcs/{bucket}/{name} can't be made"), _anew(), _empty_file(self._folder) as file:
            self._objects.write(bucket, f"{name}/", file.fileno(), 0, None)
        return self.nodes.made(bucket, f"{name}/", None)

    def make_link(self, parent: Node, child: str, target: str) -> Node:
        bucket, name = self._new(parent, child)
        with self._explained(f"/gcs/{bucket}/{name} can't be made"), _anew():
            return self.nodes.made(bucket, name, self._objects.link(bucket, name, target))

    def create(self, parent: Node, child: str) -> tuple[Node, Handle]:
        """Begin a file. Its object comes when it is closed."""
        bucket, name = self._new(parent, child)
        node = self.nodes.made(bucket, name, None)
        with node.lock:
            node.draft = Draft(_empty_file(self._folder), dirty=True)
        return node, self.nodes.opened(node, writes=True)

    def open(self, node: Node, *, writes: bool, emptied: bool) -> Handle:
        handle = self.nodes.opened(node, writes=writes)
        if emptied:
            self.resize(node, 0, later=True)
        return handle

    def read(self, handle: Handle, start: int, size: int) -> bytes:
        node = handle.node
        with node.lock:
            if node.draft:
                return os.pread(node.draft.file.fileno(), size, start)
            version = node.version
        if version is None:
            return b""
        with handle.lock:
            if not handle.holds(start, min(start + size, version.size)):
                # More and more at once is asked for while a file is read from one end to the other.
                goes_on = handle.start <= start <= handle.stop
                handle.step = min(2 * handle.step, CHUNK) if goes_on else _LEAST_READ
                stop = min(start + max(size, handle.step), version.size)
                with self._explained(f"{node.path} can't be read"):
                    content = self._objects.read(node.bucket, node.name, version, start, stop) if stop > start else b""
                handle.start, handle.content = start, content
            return handle.content[start - handle.start : start - handle.start + size]

    def write(self, node: Node, start: int, content: bytes | memoryview) -> int:
        with node.lock:
            draft = self._drafted(node)
            draft.dirty, draft.tried = True, False
            return os.pwrite(draft.file.fileno(), content, start)

    def resize(self, node: Node, size: int, *, later: bool) -> None:
        """Cut a file, or fill it up. `later`: it is open, and will be closed."""
        with node.lock:
            draft = self._drafted(node, empty=size == 0)
            os.ftruncate(draft.file.fileno(), size)
            draft.dirty, draft.tried = True, False
            if not later:
                self.keep(node)
                self.nodes.settled(node)

    def keep(self, node: Node) -> None:
        """Make a new version of what was written, if anything was."""
        with node.lock:
            draft = node.draft
            if draft is None or not draft.dirty or node.gone:
                return
            draft.tried = True
            with self._explained(f"{node.path} can't be written"):
                size = os.fstat(draft.file.fileno()).st_size
                node.version = self._objects.write(node.bucket, node.name, draft.file.fileno(), size, node.version)
            draft.dirty = False

    def close(self, handle: Handle) -> None:
        """Forget a handle. What is still not kept was written past it, through memory that is shared with the file."""
        node = handle.node
        with node.lock:
            if node.handles == 1 and node.draft and not node.draft.tried:
                with contextlib.suppress(OSError):
                    self.keep(node)
            self.nodes.closed(handle)

    def remove(self, parent: Node, child: str) -> None:
        bucket, name = self._new(parent, child)
        node = self.nodes.at(bucket, name)
        with self._explained(f"/gcs/{bucket}/{name} can't be removed"), node.lock if node else contextlib.nullcontext():
            if not node or node.version or not node.draft:
                self._objects.delete(bucket, name)
            self.nodes.dropped(bucket, name)

    def remove_folder(self, parent: Node, child: str) -> None:
        bucket, name = self._new(parent, child)
        folder = f"{name}/"
        with self._explained(f"/gcs/{bucket}/{name} can't be removed"):
            if set(self._objects.under(bucket, folder, 2)) - {folder} or any(self.nodes.beneath(bucket, folder)):
                raise OSError(errno.ENOTEMPTY, name)
            self._objects.delete(bucket, folder)
        self.nodes.dropped(bucket, folder)

    def rename(self, parent: Node, child: str, to_parent: Node, to_child: str, flags: int) -> None:
        """Copy the object, and delete it. A folder is renamed only while nothing is in it."""
        bucket, name = self._new(parent, child)
        to_bucket, to_name = self._new(to_parent, to_child)
        node = self.look_up(parent, child)
        if flags & ~_NOREPLACE:
            raise OSError(errno.EINVAL, "two files can't be exchanged")
        if flags & _NOREPLACE:
            with contextlib.suppress(FileNotFoundError):
                self.look_up(to_parent, to_child)
                raise FileExistsError(errno.EEXIST, to_name)
        if node.folder:
            self._rename_folder(node, to_bucket, to_name)
            return
        with node.lock, self._explained(f"{node.path} can't be renamed"):
            self.keep(node)
            version = self._objects.copy(bucket, name, to_bucket, to_name)
            self._objects.delete(bucket, name)
            self.nodes.renamed(node, to_bucket, to_name, version)

    def _rename_folder(self, node: Node, to_bucket: str, to_name: str) -> None:
        with self._explained(f"{node.path} can't be renamed"):
            if set(self._objects.under(node.bucket, node.name, 2)) - {node.name} or any(
                self.nodes.beneath(node.bucket, node.name)
            ):
                # The number that the service's file system answers with.
                raise OSError(errno.EMFILE, "a folder that has files can't be renamed, as in the service")
            if set(self._objects.under(to_bucket, f"{to_name}/", 2)) - {f"{to_name}/"}:
                raise OSError(errno.ENOTEMPTY, to_name)
            self._objects.copy(node.bucket, node.name, to_bucket, f"{to_name}/")
            self._objects.delete(node.bucket, node.name)
        self.nodes.dropped(node.bucket, node.name)

    def _new(self, parent: Node, child: str) -> tuple[str, str]:
        """Return bucket and name of something in a folder. Buckets themselves can't be made or removed."""
        bucket, name = parent.inside(child)
        if not name:
            raise OSError(errno.EPERM, "a bucket")
        return bucket, name

    def _bucket(self, bucket: str) -> Node:
        with self._explained(f"/gcs/{bucket} can't be read"):
            try:
                self._objects.under(bucket, "", 1)
            except OSError as error:
                if error.errno == errno.EINVAL:  # no bucket can have this name
                    raise FileNotFoundError(errno.ENOENT, bucket) from error
                raise
        return self.nodes.made(bucket, "", None)

    def _drafted(self, node: Node, *, empty: bool = False) -> Draft:
        """Return the draft of a file, with all that its object has."""
        if node.draft is None:
            file = _empty_file(self._folder)
            if node.version and not empty:
                with self._explained(f"{node.path} can't be read"):
                    for start in range(0, node.version.size, CHUNK):
                        stop = min(start + CHUNK, node.version.size)
                        content = self._objects.read(node.bucket, node.name, node.version, start, stop)
                        os.pwrite(file.fileno(), content, start)
            node.draft = Draft(file, dirty=False)
        return node.draft

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Tell once in the job's log why something failed: the asking process gets a number alone."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            why = f"{what} by {self._email}: {error.strerror or error}"
            with self._telling:
                if why not in self._told and error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    self._told.add(why)
                    self._say(why)
            raise


@contextlib.contextmanager
def _anew() -> Iterator[None]:
    """Raise FileExistsError where something is that was to be made."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ESTALE:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        raise


def _empty_file(folder: Path) -> IO[bytes]:
    """Return a file without a name, which goes with its process, however that ends."""
    return tempfile.TemporaryFile(dir=folder, buffering=0)
