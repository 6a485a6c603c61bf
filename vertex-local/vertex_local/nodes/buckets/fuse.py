"""The kernel's questions to a file system in user space, and their answers, as linux/fuse.h has them."""

import errno
import itertools
import os
import select
import socket
import stat
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NoReturn

from .nodes import Node
from .tree import Tree

_QUESTION = struct.Struct("<IIQQIIIHH")
_ANSWER = struct.Struct("<IiQ")
_ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
_ENTRY = struct.Struct("<QQQQII")
_VALID = struct.Struct("<QII")
_INIT = struct.Struct("<IIIIHHIIHHI7I")
_STATFS = struct.Struct("<QQQQQIIII6I")
_DIRENT = struct.Struct("<QQII")
_OPENED = struct.Struct("<QII")
_MINOR = 31
_ATOMIC_TRUNCATE, _BIG_WRITES, _PARALLEL_FOLDERS, _PAGES = 1 << 3, 1 << 5, 1 << 18, 1 << 22
_MOST = 1 << 20  # bytes of one write or read
_PAGE = 4096
_THREADS = 8
_FOLDER_S = 1
"""How long the kernel trusts a folder. It asks for a file's name each time, for its size once."""
_FILE_S = 3600
_SIZE, _OF_HANDLE = 1 << 3, 1 << 6
_UNKNOWN_INODE = 0xFFFFFFFF
_BLOCKS = 1 << 38


@dataclass(frozen=True)
class _Question:
    unique: int
    node: int
    body: memoryview

    def numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack_from("<" + form, self.body)

    def names(self, start: int = 0) -> list[str]:
        """Return the texts after `start`. Raises EILSEQ for what no object can be called."""
        try:
            return [name.decode() for name in bytes(self.body[start:]).split(b"\0")[:-1]]
        except UnicodeDecodeError as error:
            raise OSError(errno.EILSEQ, "names of objects are UTF-8") from error


class Server:
    """A server of one tree. `link` is to whoever looks after it: a byte asks it to answer what was asked, and to end;
    when it is closed, the machine has gone, and nothing more is kept."""

    def __init__(self, device: int, link: socket.socket, tree: Tree) -> None:
        self._device, self._link, self._tree = device, link, tree
        self._began = time.time()
        self._lists: dict[int, list[bytes]] = {}
        self._lock = threading.Lock()
        self._verbs: dict[int, Callable[[_Question], bytes]] = {
            1: lambda question: self._entry(self._tree.look_up(self._node(question), *question.names())),
            3: self._attributes,
            4: self._change,
            5: self._read_link,
            6: lambda question: self._entry(self._tree.make_link(self._node(question), *question.names())),
            9: lambda question: self._entry(self._tree.make_folder(self._node(question), *question.names(8))),
            10: self._remove,
            11: self._remove_folder,
            12: lambda question: self._rename(question, 8, *question.numbers("Q")),
            14: self._open,
            15: self._read,
            16: self._write,
            17: lambda question: _STATFS.pack(
                _BLOCKS, _BLOCKS, _BLOCKS, _BLOCKS, _BLOCKS, _PAGE, 1024, _PAGE, 0, *[0] * 6
            ),
            18: self._release,
            20: self._synchronise,
            25: self._flush,
            27: lambda question: _OPENED.pack(question.unique, 0, 0),
            28: self._read_folder,
            29: self._release_folder,
            30: lambda question: b"",
            35: self._create,
            45: lambda question: self._rename(question, 16, *question.numbers("QI")),
        }

    def serve(self) -> NoReturn:
        os.set_blocking(self._device, False)
        pool = ThreadPoolExecutor(_THREADS)
        waiting = select.poll()
        for end in (self._device, self._link.fileno()):
            waiting.register(end, select.POLLIN)
        while True:
            ready = {number for number, _ in waiting.poll()}
            if self._link.fileno() in ready:
                if not self._link.recv(1):
                    os._exit(0)
                waiting.unregister(self._device)
                threading.Thread(target=self._end, args=(pool,), daemon=True).start()
            elif self._device in ready:
                self._take(lambda question, verb: pool.submit(self._answer, question, verb))

    def _end(self, pool: ThreadPoolExecutor) -> None:
        """Answer what was asked, and end. Its processes have ended, so nobody asks for more."""
        while self._take(lambda question, verb: pool.submit(self._answer, question, verb)):
            pass
        pool.shutdown()
        os._exit(0)

    def _take(self, answer: Callable[["_Question", Callable[["_Question"], bytes]], object]) -> bool:
        """Take one question, and return whether there was one."""
        try:
            message = memoryview(os.read(self._device, _MOST + _PAGE))
        except OSError as error:
            if error.errno == errno.ENODEV:  # Nobody sees the mount any more.
                os._exit(0)
            return error.errno in (errno.EINTR, errno.ENOENT)  # asked, and taken back
        length, code, unique, node, *_ = _QUESTION.unpack_from(message)
        question = _Question(unique, node, message[_QUESTION.size : length])
        if code == 2:
            self._tree.nodes.forgotten(node, *question.numbers("Q"))
        elif code == 42:
            for at in range(question.numbers("I")[0]):
                self._tree.nodes.forgotten(*struct.unpack_from("<QQ", question.body, 8 + 16 * at))
        elif code == 26:
            self._reply(unique, 0, self._begin(question))
        elif code in self._verbs:
            answer(question, self._verbs[code])
        elif code != 36:  # An interrupted question gets its answer all the same.
            self._reply(unique, errno.ENOSYS)
        return True

    def _answer(self, question: _Question, verb: Callable[[_Question], bytes]) -> None:
        try:
            self._reply(question.unique, 0, verb(question))
        except OSError as error:
            self._reply(question.unique, error.errno or errno.EIO)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self._reply(question.unique, errno.EIO)

    def _reply(self, unique: int, number: int, content: bytes = b"") -> None:
        try:
            os.write(self._device, _ANSWER.pack(_ANSWER.size + len(content), -number, unique) + content)
        except OSError as error:
            if error.errno != errno.ENOENT:  # Who asked was killed.
                raise

    def _begin(self, question: _Question) -> bytes:
        major, _, ahead, offered = question.numbers("IIII")
        flags = offered & (_ATOMIC_TRUNCATE | _BIG_WRITES | _PARALLEL_FOLDERS | _PAGES)
        return _INIT.pack(major, _MINOR, ahead, flags, 0, 0, _MOST, 1, _MOST // _PAGE, 0, 0, *[0] * 7)

    def _attributes(self, question: _Question) -> bytes:
        node = self._node(question)
        return _VALID.pack(_FOLDER_S if node.folder else _FILE_S, 0, 0) + self._of(node)

    def _change(self, question: _Question) -> bytes:
        """Only sizes change: objects have no owner and no mode, and the time of a version is its own."""
        valid, _, _, size = question.numbers("IIQQ")
        if valid & _SIZE:
            self._tree.resize(self._node(question), size, later=bool(valid & _OF_HANDLE))
        return self._attributes(question)

    def _read_link(self, question: _Question) -> bytes:
        version = self._node(question).version
        return version.link.encode() if version else b""

    def _remove(self, question: _Question) -> bytes:
        self._tree.remove(self._node(question), *question.names())
        return b""

    def _remove_folder(self, question: _Question) -> bytes:
        self._tree.remove_folder(self._node(question), *question.names())
        return b""

    def _rename(self, question: _Question, names_at: int, folder: int, flags: int = 0) -> bytes:
        old, new = question.names(names_at)
        self._tree.rename(self._node(question), old, self._tree.nodes[folder], new, flags)
        return b""

    def _open(self, question: _Question) -> bytes:
        (flags,) = question.numbers("I")
        writes = flags & os.O_ACCMODE != os.O_RDONLY
        handle = self._tree.open(self._node(question), writes=writes, emptied=writes and bool(flags & os.O_TRUNC))
        return _OPENED.pack(handle.number, 0, 0)

    def _create(self, question: _Question) -> bytes:
        node, handle = self._tree.create(self._node(question), *question.names(16))
        return self._entry(node) + _OPENED.pack(handle.number, 0, 0)

    def _read(self, question: _Question) -> bytes:
        number, start, size = question.numbers("QQI")
        return self._tree.read(self._tree.nodes.handle(number), start, size)

    def _write(self, question: _Question) -> bytes:
        _, start, size = question.numbers("QQI")
        return struct.pack("<II", self._tree.write(self._node(question), start, question.body[40 : 40 + size]), 0)

    def _flush(self, question: _Question) -> bytes:
        handle = self._tree.nodes.handle(*question.numbers("Q"))
        if handle.writes:
            self._tree.keep(handle.node)
        return b""

    def _synchronise(self, question: _Question) -> bytes:
        self._tree.keep(self._node(question))
        return b""

    def _release(self, question: _Question) -> bytes:
        self._tree.close(self._tree.nodes.handle(*question.numbers("Q")))
        return b""

    def _read_folder(self, question: _Question) -> bytes:
        handle, start, size = question.numbers("QQI")
        if not start:
            folder = self._node(question)
            children = [(".", stat.S_IFDIR), ("..", stat.S_IFDIR), *self._tree.names(folder)]
            with self._lock:
                self._lists[handle] = [_dirent(at, *item) for at, item in enumerate(children, 1)]
        content, entries = b"", self._lists.get(handle, [])
        for entry in itertools.islice(entries, start, None):
            if len(content) + len(entry) > size:
                break
            content += entry
        return content

    def _release_folder(self, question: _Question) -> bytes:
        with self._lock:
            self._lists.pop(question.numbers("Q")[0], None)
        return b""

    def _node(self, question: _Question) -> Node:
        return self._tree.nodes[question.node]

    def _entry(self, node: Node) -> bytes:
        self._tree.nodes.learnt(node)
        name_s, node_s = (_FOLDER_S, _FOLDER_S) if node.folder else (0, _FILE_S)
        return _ENTRY.pack(node.number, 0, name_s, node_s, 0, 0) + self._of(node)

    def _of(self, node: Node) -> bytes:
        kind, size, changed = stat.S_IFDIR | 0o755, 0, self._began
        if not node.folder:
            kind, size, changed = self._of_file(node)
        second, part = int(changed), int(changed % 1 * 1e9)
        blocks, links = (size + 511) // 512, 1
        times = (second, second, second, part, part, part)
        owner = (os.getuid(), os.getgid())
        return _ATTRIBUTES.pack(node.number, size, blocks, *times, kind, links, *owner, 0, _PAGE, 0)

    def _of_file(self, node: Node) -> tuple[int, int, float]:
        draft, version = node.draft, node.version
        if draft is not None:
            try:
                status = os.fstat(draft.file.fileno())
                return stat.S_IFREG | 0o644, status.st_size, status.st_mtime
            except ValueError:  # closed meanwhile
                version = node.version
        if version is None:
            return stat.S_IFREG | 0o644, 0, self._began
        kind = stat.S_IFLNK | 0o777 if version.link else stat.S_IFREG | 0o644
        return kind, len(version.link.encode()) or version.size, version.changed


def _dirent(at: int, name: str, kind: int) -> bytes:
    text = name.encode()
    entry = _DIRENT.pack(_UNKNOWN_INODE, at, len(text), kind >> 12) + text
    return entry + bytes(-len(entry) % 8)
