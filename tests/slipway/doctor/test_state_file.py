"""A state in a folder that was cut off, and the newest copy of it that is whole. # N10

The engine's words then name neither, and its commands all fail, `pulumi cancel` alone aside, which does not help.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.doctor.backend_reading import look
from slipway.doctor.picture import Backend
from slipway.findings.finding import Grade
from tests.slipway.doctor.picture import found
from tests.slipway.doctor.test_backend import storage
from tests.slipway.review.builders import STACK

WHOLE = json.dumps({"version": 3, "checkpoint": {"stack": STACK, "latest": {"resources": []}}}).encode()
NEVER_UP = json.dumps({"version": 0, "checkpoint": {"stack": STACK}}).encode()
CUT = WHOLE[:40]


@pytest.fixture
def pulumi(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: slipway\n")
    folder = tmp_path / ".pulumi"
    (folder / "stacks" / "slipway").mkdir(parents=True)
    (folder / "backups" / "slipway" / STACK).mkdir(parents=True)
    return folder


def looked(pulumi: Path) -> Backend:
    checkout = pulumi.parent
    one = look(checkout, {"PULUMI_BACKEND_URL": f"file://{checkout}"}, storage(), STACK, "ada")
    assert isinstance(one, Backend)
    return one


def state(pulumi: Path, content: bytes, packed: str = "") -> Path:
    file = pulumi / "stacks" / "slipway" / f"{STACK}.json{packed}"
    file.write_bytes(content)
    return file


def backup(pulumi: Path, when: int, content: bytes, packed: str = "") -> Path:
    file = pulumi / "backups" / "slipway" / STACK / f"{STACK}.{when}.json{packed}"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("left", [b"", CUT, b"\0" * 40])
def test_the_copy_beside_it_comes_first(pulumi: Path, left: bytes, snapshot: SnapshotAssertion) -> None:
    file, _ = state(pulumi, left), backup(pulumi, 9, WHOLE)
    copy = state(pulumi, WHOLE, ".bak")
    findings = found(backend=looked(pulumi))
    one = findings["state-damaged"]
    assert one.grade is Grade.BLOCKING and "unread" not in findings, "its mend was to look again"
    assert str(file) in one.sentence
    assert one.fix == f"cp '{copy}' '{file}'"
    assert one.means == snapshot


def test_else_the_newest_backup_that_is_whole(pulumi: Path) -> None:
    file, _ = state(pulumi, CUT), state(pulumi, CUT, ".bak")
    backup(pulumi, 200, WHOLE)
    newest = backup(pulumi, 1000, WHOLE)
    backup(pulumi, 3000, b"5")
    backup(pulumi, 2000, CUT)
    assert found(backend=looked(pulumi))["state-damaged"].fix == f"cp '{newest}' '{file}'"


def test_a_copy_of_before_the_first_deployment_is_one_too(pulumi: Path) -> None:
    file, copy = state(pulumi, CUT), state(pulumi, NEVER_UP, ".bak")
    assert found(backend=looked(pulumi))["state-damaged"].fix == f"cp '{copy}' '{file}'"


def test_without_any_the_state_is_lost_and_no_more_than_that(pulumi: Path, snapshot: SnapshotAssertion) -> None:
    """`pulumi stack init` refuses a stack whose file is there."""
    file = state(pulumi, CUT)
    backup(pulumi, 1, CUT)
    one = found(backend=looked(pulumi))["state-damaged"]
    assert one.fix == f"mv '{file}' '{file}.damaged'"
    assert one.means == snapshot


def test_a_compressed_state_has_compressed_copies(pulumi: Path) -> None:
    """The engine reads a file by its name, and one that is not compressed under this name not at all."""
    packed = gzip.compress(WHOLE)
    file = state(pulumi, packed[:60], ".gz")
    state(pulumi, WHOLE, ".bak")
    backup(pulumi, 9, WHOLE)
    older = backup(pulumi, 5, packed, ".gz")
    backup(pulumi, 7, packed[:60], ".gz")
    assert found(backend=looked(pulumi))["state-damaged"].fix == f"cp '{older}' '{file}'"
    copy = state(pulumi, packed, ".gz.bak")
    assert found(backend=looked(pulumi))["state-damaged"].fix == f"cp '{copy}' '{file}'"


def test_a_lock_that_is_left_is_told_as_well(pulumi: Path) -> None:
    state(pulumi, CUT)
    locks = pulumi / "locks" / "organization" / "slipway" / STACK
    locks.mkdir(parents=True)
    (locks / "a.json").touch()
    assert {"state-damaged", "lock-stale"} <= set(found(backend=looked(pulumi)))


def test_what_is_json_and_no_state_was_not_cut_off(pulumi: Path) -> None:
    state(pulumi, b"[]")
    assert set(found(backend=looked(pulumi))) == {"unread"}
