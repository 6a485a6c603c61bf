"""A run's follower, where its own calls are interrupted. # N25"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from slipway.authoring.packages.slipway_exchange import Part, request_name, stop_name
from slipway.google.failures import Call, NotFound
from slipway.google.storage import Location
from slipway.using.sessions.following import Preparing, RunFollower


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
    context: Any = SimpleNamespace(
        connection=connection, user="ada", clock=SimpleNamespace(monotonic=lambda: 0.0), no_contact=0.0
    )
    session: Any = SimpleNamespace(
        replicas=("workerpool0-0",), object=lambda name: Location("work", name), job=SimpleNamespace(waits=False)
    )
    return RunFollower(context, session, SimpleNamespace(number=3), lambda *_: None, lambda *_: None)  # type: ignore[arg-type]


class Stored(Interruptible):
    """Storage with the end of a run, and at `looks` looks without the mark that its session has begun."""

    def __init__(self, looks: int) -> None:
        super().__init__(0)
        self.looks = looks

    def read(self, at: Location) -> bytes:
        if at.name == request_name(0) and self.looks:
            self.looks -= 1
            raise NotFound(Call("read the mark"))
        return Part("1", ((1, "x"),), 0).packed()


@pytest.mark.parametrize(
    ("number", "looks", "files", "said"),
    [
        (1, 1, {"uv.lock": ""}, ["its machine installs packages"]),
        (1, 1, {"train.py": ""}, ["its machine starts"]),
        (1, 0, {"uv.lock": ""}, []),
        (2, 1, {"uv.lock": ""}, []),
    ],
)
def test_the_first_run_reports_what_it_waits_for(
    number: int, looks: int, files: dict[str, str], said: list[str]
) -> None:
    told: list[Any] = []
    run: Any = SimpleNamespace(number=number, request=SimpleNamespace(files=files))
    following = replace(follower(Stored(looks)), run=run, tell=told.append)
    assert following.code() == 0 and told == [Preparing(why) for why in said]


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
