"""The server process: `python -m vertex_local.server.main STATE_FOLDER PORT`."""

import asyncio
import contextlib
import fcntl
import importlib
import logging
import os
import random
import resource
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import TextIO

import uvicorn

from ..nodes.addresses import SERVER_PORTS
from ..projects import Projects
from ..world import Loop, World, open_world
from .app import build_app
from .cloud_file import PORT_TAKEN, Record, read_record, this_process, write_record
from .connections import Connections

SERVICES = (
    "storage",
    "iam",
    "resourcemanager",
    "logging",
    "serviceusage",
    "vertex",
    "quotas",
    "secretmanager",
    "monitoring",
    "orgpolicy",
    "compute",
)
_TURN_S = 0.0005


def serve(state_folder: Path, port: int) -> None:
    """Serve until SIGTERM. Raises OSError when the port is taken, or the state folder is served by another."""
    _limit_files()
    # Threads that wait for each other's turn take it at every system call. A page of a thousand jobs would hold the
    # scheduler up for the usual 5 ms at each of its hundreds.
    sys.setswitchinterval(_TURN_S)
    held = _hold(state_folder)
    # The protocol is named because asyncio sets TCP_NODELAY only then; without it an answer waits for an ACK.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _bind(listener, port)
    listener.listen(256)
    port = listener.getsockname()[1]
    world = open_world(state_folder, url=f"http://127.0.0.1:{port}")
    projects = Projects(world)
    connections = Connections()
    modules = load_services()
    app = build_app(projects, modules, connections)
    projects.follow(lambda _: _publish(projects, port))
    loops: dict[str, list[Loop]] = {}
    projects.follow(lambda item: _start(item, modules, loops))
    try:
        config = uvicorn.Config(
            app,
            http=connections.protocol(),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=2,
        )
        _Server(config).run(sockets=[listener])
    finally:
        for loop in [loop for each in loops.values() for loop in each]:
            loop.stop()
        for served in projects.worlds():
            served.store.close()
            served.logs.close()
        held.close()


class _Server(uvicorn.Server):
    """A server that sleeps until told to end. The library's wakes ten times a second: most of an idle cloud's cost."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._told = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            await self._told.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._told.set)


def load_services() -> Sequence[ModuleType]:
    return [importlib.import_module(f"..{name}.routes", __package__) for name in SERVICES]


def _start(world: World, modules: Sequence[ModuleType], loops: dict[str, list[Loop]]) -> None:
    """Begin a project's background work, once."""
    if world.project.id not in loops:
        loops[world.project.id] = [
            loop for module in modules if hasattr(module, "loops") for loop in module.loops(world)
        ]
        for loop in loops[world.project.id]:
            loop.start()


def _bind(listener: socket.socket, port: int) -> None:
    """Take a port; for 0 one that the system lends to no connection, and so is free again after a kill."""
    for free in random.sample(SERVER_PORTS, 100) if port == 0 else ():
        with contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", free))
            return
    listener.bind(("127.0.0.1", port))


def _publish(projects: Projects, port: int) -> None:
    """Write cloud.json with the tokens that people already have, or new ones, and accept exactly these."""
    home = projects.home
    before = read_record(home.state_folder)
    known = {home.project.id: before.tokens, **before.projects} if before else {}
    tokens = {world.project.id: _adopted(world, known.get(world.project.id, {})) for world in projects.worlds()}
    of_home = tokens.pop(home.project.id)
    write_record(home.state_folder, Record(home.url, port, *this_process(), of_home, tokens))


def _adopted(world: World, known: Mapping[str, str]) -> dict[str, str]:
    """Return the tokens of everybody who can sign in to a project, by role or email."""
    tokens = {}
    with world.store.transaction():
        for who, principal in world.project.principals.items():
            world.access.revoke_purpose(f"role {who}")
            if who in known:
                world.access.adopt(known[who], principal, f"role {who}")
            tokens[who] = known.get(who) or world.access.mint(principal, f"role {who}")
    return tokens


def _hold(state_folder: Path) -> TextIO:
    """Return the folder's lock, held while this process lives, so that no two ever serve one state. Raises OSError."""
    state_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = (state_folder / "serving").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise OSError(f"another local cloud serves {state_folder}") from error
    (state_folder / ".gitignore").write_text(
        "*\n"
    )  # It has tokens, and may lie in a repository that does not ignore it.
    return file


def _limit_files() -> None:
    """Limit the size of files, which stands for a full disk in tests (`VERTEX_LOCAL_FILE_LIMIT`, bytes a file). Only
    the soft limit is set, so that job processes can lift it again."""
    limit = os.environ.get("VERTEX_LOCAL_FILE_LIMIT")
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def main(arguments: Sequence[str]) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    try:
        serve(Path(arguments[0]), int(arguments[1]))
    except OSError as error:
        logging.getLogger("vertex_local").error("%s", error)
        return PORT_TAKEN if "address already in use" in str(error).lower() else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
