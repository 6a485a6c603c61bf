"""Nodes, for each folder and each version of a file, and handles of open files, as long as the kernel knows them."""

import itertools
import threading
from dataclasses import dataclass, field
from typing import IO

from .objects import Version

ROOT = 1


@dataclass
class Draft:
    """A file as it is written."""

    file: IO[bytes]
    #: It is not what the object has.
    dirty: bool
    #: To write that was tried since its last change.
    tried: bool = False


@dataclass(eq=False)
class Node:
    """A folder, whose name ends with "/" but for a bucket's and the root's, which are empty; or a file."""

    number: int
    bucket: str
    name: str
    #: None for a file that has no object yet.
    version: Version | None
    draft: Draft | None = None
    #: It was removed.
    gone: bool = False
    lookups: int = 0
    handles: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def folder(self) -> bool:
        return not self.name or self.name.endswith("/")

    @property
    def path(self) -> str:
        return "/".join(("/gcs", *filter(None, (self.bucket, self.name.rstrip("/")))))

    def inside(self, child: str) -> tuple[str, str]:
        """Return bucket and name of something in this folder; the name is empty for a bucket."""
        return (self.bucket, self.name + child) if self.bucket else (child, "")


@dataclass(eq=False)
class Handle:
    """An open file."""

    number: int
    node: Node
    writes: bool
    #: Where the bytes begin that were read last.
    start: int = 0
    content: bytes = b""
    #: How many are asked for at once.
    step: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def stop(self) -> int:
        return self.start + len(self.content)

    def holds(self, start: int, stop: int) -> bool:
        return self.start <= start and stop <= self.stop


class Nodes:
    """All nodes and handles. A new version of a file is a new node: what the kernel read of one stays true."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._numbers = itertools.count(ROOT)
        self._named: dict[tuple[str, str], Node] = {}
        self._numbered: dict[int, Node] = {}
        self._handles: dict[int, Handle] = {}
        self.made("", "", None)

    def __getitem__(self, number: int) -> Node:
        with self._lock:
            return self._numbered[number]

    def handle(self, number: int) -> Handle:
        with self._lock:
            return self._handles[number]

    def at(self, bucket: str, name: str) -> Node | None:
        """Return the node that has this name."""
        with self._lock:
            return self._named.get((bucket, name))

    def made(self, bucket: str, name: str, version: Version | None) -> Node:
        """Return the node of a folder, or of a version of a file."""
        with self._lock:
            node = self._named.get((bucket, name))
            if node is None or node.version != version or (version is None and not node.folder):
                node = Node(next(self._numbers), bucket, name, version)
                self._named[bucket, name] = self._numbered[node.number] = node
            return node

    def learnt(self, node: Node) -> Node:
        """Count that the kernel learns of a node."""
        with self._lock:
            node.lookups += 1
            self._numbered[node.number] = node
            return node

    def forgotten(self, number: int, lookups: int) -> None:
        """Let go of a node that the kernel has forgotten as often as it has learnt of it."""
        with self._lock:
            node = self._numbered.get(number)
            if node is not None and number != ROOT:
                node.lookups -= lookups
                self._tidy(node)

    def opened(self, node: Node, *, writes: bool) -> Handle:
        with self._lock:
            node.handles += 1
            handle = Handle(next(self._numbers), node, writes)
            self._handles[handle.number] = handle
            return handle

    def closed(self, handle: Handle) -> None:
        with self._lock:
            self._handles.pop(handle.number, None)
            handle.node.handles -= 1
            self.settled(handle.node)

    def settled(self, node: Node) -> None:
        """Drop the draft of a file that nobody has open. One without an object is gone with it."""
        with self._lock:
            if node.draft and not node.handles:
                node.draft.file.close()
                node.draft = None
                if node.version is None and self.at(node.bucket, node.name) is node:
                    self.dropped(node.bucket, node.name)
            self._tidy(node)

    def dropped(self, bucket: str, name: str) -> None:
        """Take its name from a node."""
        with self._lock:
            if node := self._named.pop((bucket, name), None):
                node.gone = True

    def renamed(self, node: Node, bucket: str, name: str, version: Version) -> None:
        with self._lock:
            self.dropped(bucket, name)
            self._named.pop((node.bucket, node.name), None)
            node.bucket, node.name, node.version = bucket, name, version
            self._named[bucket, name] = node

    def drafts(self, folder: Node) -> list[Node]:
        """Return files below a folder that have no object yet."""
        return [node for node in self.beneath(folder.bucket, folder.name) if node.version is None]

    def beneath(self, bucket: str, prefix: str) -> list[Node]:
        """Return files with unsaved drafts below a folder."""
        with self._lock:
            return [
                node
                for (of, name), node in self._named.items()
                if of == bucket and name.startswith(prefix) and node.draft and node.draft.dirty
            ]

    def _tidy(self, node: Node) -> None:
        if node.lookups <= 0 and not node.handles and node.number != ROOT:
            self._numbered.pop(node.number, None)
            if self._named.get((node.bucket, node.name)) is node:
                del self._named[node.bucket, node.name]
