"""A process that the fork server replaces by another: it hands its words, folder, variables and streams over, and ends
as that does. It imports next to nothing: its own start is the remaining cost."""

from __future__ import annotations

import _socket
import os
import sys

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
    variables = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    request = b"\0".join((os.getcwdb(), str(len(words)).encode(), *map(os.fsencode, words), variables))  # noqa: PTH109
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    server.connect(os.environb[SERVER.encode()])
    streams = b"".join(number.to_bytes(_CODE, sys.byteorder) for number in range(_STREAMS))
    length = len(request).to_bytes(_LENGTH, "big")
    server.sendmsg([length], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    server.sendall(request)
    server.settimeout(_LOOK_S)
    while os.getppid() == parent:
        try:
            code = int.from_bytes(server.recv(_CODE) or b"\1", "big")
        except TimeoutError:
            continue
        if code > _SIGNAL:
            os.kill(os.getpid(), code - _SIGNAL)
        return code
    return 1


def ended(code: int) -> bytes:
    """Return the server's message for an ended process: its exit code, or, below 0, the signal that ended it."""
    return (code if code >= 0 else _SIGNAL - code).to_bytes(_CODE, "big")


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
