"""Local clouds of tests, forked from a process with their imports done, which are most of a start's cost.

Those that a test starts by the command in a process of its own are processes from their first line on.
"""

import os
from pathlib import Path
from typing import IO

from vertex_local.server import daemon

from . import fork_client, fork_server
from .kept_server import kept


class ForkedCloud:
    """The process of a cloud, which ends with this one."""

    def __init__(self, words: list[str], output: IO[bytes]) -> None:
        with Path(os.devnull).open("rb") as nothing:
            streams = (nothing.fileno(), output.fileno(), output.fileno())
            self._connection = fork_client.ask(
                kept(fork_server.CLOUD), str(fork_server.ROOT), words, os.environ, streams
            )
        self.pid = fork_client.number(self._connection)
        self._connection.setblocking(False)
        _kept.append(self)

    def poll(self) -> int | None:
        try:
            return fork_client.number(self._connection)
        except BlockingIOError:
            return None


_kept = list[ForkedCloud]()
"""All of them: a cloud whose connection is closed is killed."""


def launch(folder: Path, port: int, output: IO[bytes]) -> daemon.Launched:
    return ForkedCloud([fork_server.CLOUD, str(folder), str(port)], output)
