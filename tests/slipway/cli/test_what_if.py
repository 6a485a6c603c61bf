"""What `slipway what-if` prints of a replay, and of one that can't be trusted. # N16"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cli.terminal import comparison_table, screen
from slipway.generations.published_clusters import declared
from slipway.whatif.comparison import Comparison, Replayer
from slipway.whatif.model import PoolDelays
from slipway.whatif.replay import replay
from tests.slipway.whatif.month import DAY, month
from tests.slipway.whatif.past import CPU, catalog, cluster, history, offer, pool, replayed, told

NOW, THEN = cluster("cpu", pool("workers", 2, 12)), cluster("cpu", pool("workers", 1, 4))
HEADS = ("NOW", "WITH THIS CHANGE")


def comparison(jobs: int = 412) -> Comparison:
    happened = replay(month(jobs, CPU), replayed(NOW, PoolDelays(20.0, 240.0, 900.0)), 30 * DAY)
    offers = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}
    here = Replayer.of(history(told(happened, NOW), [NOW]), catalog([NOW], offers))
    return here.comparison([declared(NOW)], [declared(THEN)])


def test_both_outcomes_stand_side_by_side(capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion) -> None:
    comparison_table.show(comparison(), HEADS)
    assert "\n".join(capsys.readouterr()) == snapshot


def test_a_replay_that_is_too_far_off_tells_no_waits_and_no_dollars(
    capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    found = comparison()
    off = replace(found, calibration=replace(found.calibration, error=0.4))
    comparison_table.show(off, HEADS)
    assert "\n".join(capsys.readouterr()) == snapshot
    told = comparison_table.document(off, "prod")
    assert told.before is None and told.after is None and told.never_ran and not told.trusted


def test_what_programs_get(capsys: pytest.CaptureFixture[str]) -> None:
    screen.out_json("what-if", comparison_table.document(comparison(), "prod"))
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["stack"], found["trusted"], found["suggestion"]) == ("what-if", "prod", True, None)
    assert found["before"]["waits"]["p95"] < found["after"]["waits"]["p95"]
    assert float(found["before"]["cost"]) > float(found["after"]["cost"]) and found["neverRan"][0]["jobs"] > 0
    assert found["delays"]["scaleUp"]["count"] > 0 and found["delays"]["idle"]["count"] == 0
