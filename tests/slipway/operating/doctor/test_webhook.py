"""A webhook is told what is found when that differs from the last time, and its address is never shown. # N10"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slipway.base.errors import ConfigError, ResourceError
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.operating.doctor.webhook import Webhook, message
from tests.loopback import Handler, served

SECRET = "T0KEN"
FAILED = KINDS["cluster-failed"].of(Subject("cluster", "h100"), "cluster h100 has failed", "pulumi up")
IDLE = KINDS["pool-idle"].of(Subject("pool", "cpu/all"), "pool cpu/all is idle for <!channel>")
NOTE = KINDS["package-left"].of(Subject("package"), "a package is left")


@dataclass
class Room:
    """A chat room that answers with a status."""

    url: str = ""
    status: int = 200
    told: list[str] = field(default_factory=list)


@pytest.fixture
def room() -> Iterator[Room]:
    found = Room()

    class Answers(Handler):
        def do_POST(self) -> None:
            body = json.loads(self.body())
            if found.status == 200:
                found.told.append(body["text"])
            self.answer(found.status)

    with served(Answers) as url:
        found.url = f"{url}/{SECRET}"
        yield found


def tell(url: str, home: Path, *findings: Finding) -> bool:
    return Webhook.of(url, "acme-prod", {"XDG_STATE_HOME": str(home)}).tell("prod", findings)


def test_it_is_told_what_differs_from_the_last_time_and_once(room: Room, tmp_path: Path) -> None:
    said = [tell(room.url, tmp_path, *some) for some in ((), (NOTE,), (FAILED, NOTE), (FAILED,), (FAILED, IDLE), ())]
    assert said == [False, False, True, False, True, True]
    assert [text.splitlines()[0] for text in room.told] == [
        "stack prod: slipway doctor finds 1 thing",
        "stack prod: slipway doctor finds 2 things",
        "stack prod: slipway doctor finds nothing any more",
    ]
    assert room.told[1].splitlines()[1:] == [
        "broken: cluster h100 has failed",
        "    fix: pulumi up",
        "warning: pool cpu/all is idle for &lt;!channel&gt;",
    ]


def test_of_many_findings_the_first_are_told() -> None:
    assert message("prod", [IDLE] * 25).splitlines()[-1] == "and 5 more"


def test_what_a_room_did_not_take_is_told_the_next_time_and_no_error_has_its_address(
    room: Room, tmp_path: Path
) -> None:
    room.status = 404
    with pytest.raises(ResourceError, match="HTTP 404") as refused:
        tell(room.url, tmp_path, FAILED)
    with pytest.raises(ResourceError, match="can't be reached") as unreachable:
        tell(f"http://127.0.0.1:9/{SECRET}", tmp_path, FAILED)
    for error in (refused.value, unreachable.value):
        assert SECRET not in f"{error} {error.why} {error.fix}" and error.__context__ is None
    room.status = 200
    assert tell(room.url, tmp_path, FAILED) and len(room.told) == 1


@pytest.mark.parametrize(
    "url", [f"http://rooms.example/{SECRET}", f"{SECRET}", f"ftp://127.0.0.1/{SECRET}", f"https://[{SECRET}"]
)
def test_an_address_that_would_show_its_secret_on_the_way_is_refused_unshown(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no https:// address") as refused:
        tell(url, tmp_path)
    assert SECRET not in f"{refused.value} {refused.value.why} {refused.value.fix}"
