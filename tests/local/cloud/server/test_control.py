"""What only the local cloud has: a replica is killed by name, and a cloud that hangs is said. # N4"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from local.cloud.projects import Projects
from local.cloud.router import Router
from local.cloud.server import client, control, daemon
from tests.local.cloud.calling import Calling


@pytest.fixture
def controlling(calling: Calling) -> Calling:
    return replace(calling, router=Router(control.routes(Projects(calling.world), ())))


@pytest.mark.parametrize(
    ("job", "replica", "code", "words"),
    [
        ("none", "workerpool0-0", 404, "No job on machines has the name, id or display name 'none'."),
        ("twice", "workerpool0-0", 400, "More than one job on machines has the name 'twice'"),
        ("once", "workerpool1-0", 404, "has no replica 'workerpool1-0'; it has workerpool0-0."),
        ("once", "workerpool0-0", 400, "Replica workerpool0-0 of job"),
    ],
)
def test_what_can_t_be_killed_is_said(
    calling: Calling, controlling: Calling, job: str, replica: str, code: int, words: str
) -> None:
    for name in ("once", "twice", "twice"):
        calling.job(displayName=name)
    error = controlling.refused("POST", "/slipway/kill", {"job": job, "replica": replica})
    assert (error.code, words in error.message) == (code, True), error.message


def test_a_cloud_that_lives_and_does_not_answer_is_not_taken_for_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = SimpleNamespace(pid=4711, url="http://127.0.0.1:1")
    monkeypatch.setattr(daemon, "read_record", lambda folder: record)
    monkeypatch.setattr(daemon, "process_of", lambda found: found.pid)
    monkeypatch.setattr(client, "answers", lambda found, seconds: False)
    with pytest.raises(client.CloudError, match="process 4711 of the local cloud lives but does not answer"):
        daemon.start(tmp_path / "state", {})
