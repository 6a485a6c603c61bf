"""The metadata server of a replica: a port of its own that waits for requests."""

import contextlib
import selectors
import socket
import threading
from types import TracebackType

from .spec import Identity


class MetadataServer:
    """A server of one identity on a free port of the replica's own address while it is entered; `address` is host:port.

    The answering code is loaded with the first question, as most replicas ask none: a web server takes as long to
    import as all else that a runner needs.
    """

    def __init__(self, host: str, identity: Identity) -> None:
        self._identity = identity
        self._listening = socket.create_server((host, 0))
        self._end, self._ended = socket.socketpair()
        self.address = f"{host}:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "MetadataServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.close()
        self._thread.join()
        self._listening.close()
        self._ended.close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as waits:
            waits.register(self._listening, selectors.EVENT_READ)
            waits.register(self._ended, selectors.EVENT_READ)
            server = None
            while all(key.fileobj is self._listening for key, _ in waits.select()):
                if server is None:
                    from .metadata_answers import Server

                    server = Server(self._listening, self._identity)
                with contextlib.suppress(OSError):  # the client has gone again
                    server.handle_request()
