"""A chat room, or a program, on loopback that keeps what it is told."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests import loopback


@dataclass
class Room:
    """Bodies that were posted, in order; `status` answers."""

    url: str = ""
    bodies: list[Any] = field(default_factory=list)
    status: int = 200

    @property
    def texts(self) -> list[str]:
        return [body["text"] for body in self.bodies]


@contextmanager
def a_room() -> Iterator[Room]:
    room = Room()

    class Hook(loopback.Handler):
        def do_POST(self) -> None:
            room.bodies.append(json.loads(self.body()))
            self.answer(room.status, headers={"Location": room.url} if room.status >= 300 else {})

    with loopback.served(Hook) as url:
        room.url = f"{url}/services/T0/B0/s3cr3t"
        yield room
