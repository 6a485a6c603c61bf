"""The process of a task that `submit_op` made, where it is asked to stop. # N12"""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.front.api import pipeline_task
from slipway.front.api.pipeline_task import PipelineTask

_HALFWAY = """
import os, signal

if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
    os.kill(os.getpid(), signal.SIGTERM)
WHOLE = True
"""


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    known = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, known)


def test_a_task_that_is_stopped_amid_an_import_cancels_its_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "halfway.py").write_text(_HALFWAY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SLIPWAY_USER", "ada")
    monkeypatch.setattr(sys, "argv", ["kfp", "projects/p/locations/l/pipelineJobs/tries", json.dumps({})])
    stopped: list[object] = []
    monkeypatch.setattr(PipelineTask, "submitted", lambda _: __import__("halfway"))
    monkeypatch.setattr(PipelineTask, "stop", lambda _: stopped.append(__import__("halfway").WHOLE))
    with pytest.raises(SystemExit) as ended:
        pipeline_task.run()
    assert ended.value.code == 143 and stopped == [True]
