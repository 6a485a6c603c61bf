"""`slipway.session(...)`: the arguments and attributes that it shares with jobs. # N25"""

from typing import Any

import pytest

import slipway
from tests.slipway.front.api import test_submit as _fixtures
from tests.slipway.front.cli.stack import Stack
from tests.slipway.front.cli.test_run import open_to_commands

__all__ = ["open_to_commands"]

_stack, stack = _fixtures._stack, _fixtures.stack
_WRITES = "import os; open(os.environ['SLIPWAY_OUTPUT'] + '/metrics.json', 'w').write('{\"loss\": 0.5}')"


@pytest.mark.journey
def test_a_session_takes_the_flags_of_a_job_and_its_runs_have_metrics(open_to_commands: Stack) -> None:
    (open_to_commands.folder / "measures.py").write_text(_WRITES)
    about: Any = {"labels": {"ablation": "decay"}, "note": "a try", "retries": 1, "env": {"LR": 0.1}}
    with slipway.session(idle="10m", request_id="held", wait_for={"pool": "30m"}, **about) as session:
        job = session.job
        assert (job.labels["ablation"], job.note) == ("decay", "a try")
        assert job.settings.env == {"LR": "0.1"} and job.settings.retries == 1 and job.request_id == "held"
        run = session.run("measures.py")
        assert dict(run.metrics) == {"loss": 0.5}
        again = session.run(["python", "measures.py", "--lr", 0.1, "a b"])
        record, second = session.runs()
        assert "measures.py" in record.files and "files" not in repr(record)
        assert again.exit_code == 0 and second.command == "python measures.py --lr 0.1 'a b'"
