"""A run's follower, where its own calls are interrupted. # N25"""

from types import SimpleNamespace
from typing import Any

import pytest

from slipway.authoring.packages.slipway_exchange import stop_name
from slipway.google.storage import Location
from slipway.using.sessions.following import RunFollower


class Interruptible:
    """Storage whose first calls end in Ctrl-C, before anything is made."""

    def __init__(self, interrupts: int) -> None:
        self.interrupts, self.made = interrupts, list[str]()

    def create(self, at: Location, *_: object, **__: object) -> bool:
        if self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt
        self.made.append(at.name)
        return True


def follower(storage: Interruptible) -> RunFollower:
    connection = SimpleNamespace(storage=storage, with_policy=lambda policy: SimpleNamespace(storage=storage))
    context: Any = SimpleNamespace(connection=connection, user="ada", clock=None, no_contact=0.0)
    session: Any = SimpleNamespace(
        replicas=("workerpool0-0",), object=lambda name: Location("work", name), job=SimpleNamespace(waits=False)
    )
    return RunFollower(context, session, SimpleNamespace(number=3), lambda *_: None, lambda *_: None)  # type: ignore[arg-type]


@pytest.mark.parametrize("interrupts", [0, 1, 2])
def test_ctrl_c_twice_kills_whatever_it_interrupts(interrupts: int) -> None:
    storage = Interruptible(interrupts)
    run = follower(storage)
    for _ in range(interrupts):
        with pytest.raises(KeyboardInterrupt):
            run.stop()
    while run.stop():
        pass
    assert storage.made == [stop_name(3, 1), stop_name(3, 2)]
