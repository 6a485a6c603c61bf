"""A process that the fork server replaces by another: it hands its words, folder, variables and streams over, and ends
as that does. It imports next to nothing: its own start is the remaining cost."""

from __future__ import annotations

import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SERVER = "TESTS_FORK_SERVER"
"""The variable that has the server's socket."""
_STREAMS = 3
_LOOK_S = 1.0
_LENGTH = 8
_CODE = 4
_SIGNAL = 128


def main(words: list[str]) -> int:
    """Ask for a process and wait for its end, by a signal or with the exit code that is returned. It ends when this one
    does, or loses its parent."""
    parent = os.getppid()
    server = ask(os.environ[SERVER], os.getcwd(), words, os.environ, range(_STREAMS))  # noqa: PTH109
    server.settimeout(_LOOK_S)
    while os.getppid() == parent:
        try:
            code = number(server)
        except TimeoutError:
            continue
        if code > _SIGNAL:
            os.kill(os.getpid(), code - _SIGNAL)
        return code
    return 1


def ask(path: str, folder: str, words: list[str], variables: Any, streams: Any) -> _socket.socket:
    """Return a connection to the server at `path`, which has begun a process with these words, folder, variables and
    streams (descriptors of input, output and errors)."""
    named = (f"{name}={value}" for name, value in variables.items())
    request = b"\0".join(map(os.fsencode, (folder, str(len(words)), *words, *named)))
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(path)
    passed = b"".join(stream.to_bytes(_CODE, sys.byteorder) for stream in streams)
    server.sendmsg([len(request).to_bytes(_LENGTH, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)])
    server.sendall(request)
    return server


def number(server: _socket.socket) -> int:
    """Return the next number that the server says: 1 where it is gone."""
    return int.from_bytes(server.recv(_CODE) or b"\1", "big")


def said(number: int) -> bytes:
    """Return the message for a number: a process's id, or its exit code; below 0 the signal that ended it."""
    return (number if number >= 0 else _SIGNAL - number).to_bytes(_CODE, "big")


def receive(connection: _socket.socket) -> tuple[bytes, list[bytes], dict[bytes, bytes], list[int]]:
    """Return a request: folder, words, variables and streams."""
    length, passed, _, _ = connection.recvmsg(_LENGTH, _socket.CMSG_LEN(_CODE * _STREAMS))
    streams = [
        int.from_bytes(data[at : at + _CODE], sys.byteorder)
        for _, _, data in passed
        for at in range(0, len(data), _CODE)
    ]
    request = b""
    while len(request) < int.from_bytes(length, "big"):
        request += connection.recv(1 << 16)
    folder, count, *rest = request.split(b"\0")
    words, pairs = rest[: int(count)], rest[int(count) :]
    variables = {name: value for name, _, value in (pair.partition(b"=") for pair in pairs)}
    return folder, words, variables, streams


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
