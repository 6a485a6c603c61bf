"""Parts of the board's document: a stack at one moment, the life of a job, and runs on axes. # N19 W5"""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench import month
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.google.monitoring import CPU as CPU_USE
from slipway.google.monitoring import Point, Series
from slipway.google.quota.report import QuotaRow
from slipway.google.storage import Location, StoredObject
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.model.prices import UNKNOWN
from slipway.operating.board.life import checkpoints, life_of, phases
from slipway.operating.board.now import gauges, pools_now, queue
from slipway.operating.board.sweep import BoardSweep, board_study, board_sweep
from slipway.operating.pool_rows import Holder, PoolRow
from slipway.using.jobs.log import EventKind, JobEvent, JobEvents
from slipway.using.jobs.metrics import Metrics, MetricStep
from slipway.using.jobs.results import Goal, Results
from slipway.using.jobs.utilization import Utilization, UtilizationRow
from tests.builders import jobs
from tests.builders.pools import CPU
from tests.slipway.operating.board.moment_sweeps import sweeps_of

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
JOB = VertexJob("projects/1/locations/r/customJobs/4711", "tune", "JOB_STATE_RUNNING", create_time=BEGIN)


def at(hours: float) -> datetime:
    return BEGIN + timedelta(hours=hours)


def event(kind: EventKind, hours: float | None, trial: str = "") -> JobEvent:
    return JobEvent(kind, None if hours is None else at(hours), "workerpool0-0", "main", trial, f"{kind} happened")


def lived(job: VertexJob, *events: JobEvent) -> list[tuple[str, float, float]]:
    hour = timedelta(hours=1)
    return [
        (phase.what, (phase.begin - BEGIN) / hour, (phase.end - BEGIN) / hour) for phase in phases(job, events, at(9))
    ]


def test_one_that_waits_ran_or_never_started() -> None:
    assert lived(JOB) == [("waiting", 0, 9)]
    assert lived(replace(JOB, end_time=at(2))) == [("waiting", 0, 2)]
    assert lived(replace(JOB, start_time=at(1), end_time=at(4))) == [("waiting", 0, 1), ("running", 1, 4)]
    assert lived(replace(JOB, create_time=None)) == []


def test_one_that_lost_its_machines_and_had_others() -> None:
    job = replace(JOB, start_time=at(1))
    told = (event("running", 1), event("preemption", 3), event("restart", 3.5), event("running", 4))
    assert lived(job, *told) == [("waiting", 0, 1), ("running", 1, 3), ("preempted", 3, 4), ("running", 4, 9)]
    assert lived(job, *told[:2])[-1] == ("preempted", 3, 9)
    assert lived(job, event("preemption", None), event("preemption", 3, trial="2"))[-1] == ("running", 1, 9)


def stored(name: str, hours: float) -> StoredObject:
    return StoredObject(Location("work", name), 1, "1", "", at(hours))


def test_checkpoints_are_objects_that_are_called_so_each_minute_once() -> None:
    objects = [
        stored("a/model.pt", 1),
        stored("a/Checkpoint-1/x", 2),
        stored("a/Checkpoint-1/y", 2),
        stored("ckpt2", 3),
    ]
    assert [(checkpoint.time, checkpoint.text) for checkpoint in checkpoints(objects)] == [
        (at(2), "a/Checkpoint-1/x"),
        (at(3), "ckpt2"),
    ]


def test_what_could_not_be_read_is_said_and_long_series_are_thinned() -> None:
    points = tuple(Point(at(number / 60), 0.5) for number in range(1000))
    row = UtilizationRow.of("workers-0", "cpu", Series(CPU_USE, "4711", "workerpool0-0", "", points))
    life = life_of(JOB, JobEvents(why="denied"), Utilization((row,)), ("hi",), (), at(9), ("", "log: denied"))
    assert life.why == ("events: denied", "log: denied")
    assert len(life.use[0].points) <= 120 and (life.use[0].mean, life.use[0].max) == (0.5, 0.5)


def test_a_session_is_shown_by_its_name() -> None:
    session = replace(JOB, labels={"slipway-session": "1", "slipway-name": "lr"})
    assert life_of(session, JobEvents(), Utilization(()), (), (), at(9)).name == "session/lr"
    (waiting,) = queue((replace(session, state="JOB_STATE_PENDING"),), (), {}, at(9))
    assert waiting.display_name == "session/lr"


NOW = datetime(2026, 11, 24, tzinfo=UTC)
NAME = "projects/1/locations/us-central1/persistentResources/cpu-1a2b3c4"


def row(used: int, live: int, most: int | None, *holders: Holder) -> PoolRow:
    pool = ResourcePool("workers", CPU, live, used, None if most is None else 1, most)
    cluster = PersistentResource(NAME, "RUNNING", {}, (pool,))
    return PoolRow("cpu", "us-central1", cluster, pool, False, (), None, False, UNKNOWN, holders)


def shares(row: PoolRow) -> list[tuple[str, str, int]]:
    (pool,) = pools_now([row])
    return [(share.what, share.user, share.machines) for share in pool.shares]


def test_machines_are_somebodys_free_or_yet_to_come() -> None:
    assert shares(row(3, 4, 6, Holder("ada", 2, ("tune",)), Holder("ci", 1, ("eval",)))) == [
        *(("busy", "ada", 2), ("busy", "ci", 1), ("free", "", 1), ("room", "", 2)),
    ]
    (owned,) = pools_now([replace(row(0, 1, 1), teams=("vision",))])
    assert owned.teams == ("vision",)
    assert shares(row(3, 3, None, Holder("ada", 1, ("tune",)))) == [("busy", "ada", 1), ("busy", "", 2)]
    assert shares(row(0, 2, 2, Holder("ada", 2, ("tune",)))) == [("busy", "ada", 2)], "lists lag"


def test_the_oldest_waits_first_and_each_says_for_what_and_why() -> None:
    newer = jobs.job("1", on="cpu-1a2b3c4", state="QUEUED", replicas=2, create_time=NOW - timedelta(hours=1))
    older = jobs.job("2", state="QUEUED", replicas=2, create_time=NOW - timedelta(hours=3))
    listed = list(queue((newer, older, jobs.job("9")), [row(2, 2, 2).cluster], {"cpu-1a2b3c4": "cpu"}, NOW))
    assert [(job.id, job.on, job.machines) for job in listed] == [("2", "on-demand", 2), ("1", "cpu", 2)]
    assert "quota" in listed[0].why and "cpu/workers" in listed[1].why


def test_offers_beside_the_pools_are_no_gauge() -> None:
    of_pool = QuotaRow("m_cpus", "us-central1", "pool cpu", 8, 16, 100, 4, "ok", retiring=2)
    of_offer = QuotaRow("m_cpus", "us-central1", "offer", None, 16, 100, 4, "ok")
    (gauge,) = gauges([of_pool, of_offer])
    assert (gauge.now, gauge.ceiling, gauge.others, gauge.limit) == (8, 16, 6, 100)


def study(*trials: tuple[dict[str, str], float | None], goal: str = "MAXIMIZE") -> BoardSweep:
    listed = tuple(
        Trial(str(number), "SUCCEEDED", values, {} if metric is None else {"accuracy": metric}, "")
        for number, (values, metric) in enumerate(trials, 1)
    )
    name = "projects/1/locations/r/hyperparameterTuningJobs/7"
    return board_study(VertexJob(name, "tune", "x", kind=TUNING_JOB, tried=listed, goals={"accuracy": goal}))


def places(sweep: BoardSweep, key: str) -> list[float]:
    return [point.place for point in sweep.points if point.key == key]


def test_numbers_lie_by_their_size_and_far_apart_by_their_logarithm() -> None:
    near = study(({"x": "1"}, 0.1), ({"x": "2"}, 0.2), ({"x": "3"}, 0.3))
    far = study(({"x": "0.01"}, 0.1), ({"x": "0.1"}, 0.2), ({"x": "1"}, 0.3))
    texts = study(({"opt": "sgd", "same": "1"}, 1), ({"opt": "adam", "same": "1"}, 2), ({"opt": "sgd", "same": "1"}, 3))
    assert places(texts, "opt") == [1, 0, 1] and not places(texts, "same"), "what does not vary has no axis"
    many = study(*(({"x": str(number)}, 0.5 + number) for number in range(9)))
    assert [tick.text for tick in many.ticks if tick.key == "x"] == ["0", "8"]
    assert places(near, "x") == places(far, "x") == places(near, "accuracy") == [0, 0.5, 1]


def test_numbers_that_lie_farther_apart_than_a_number_can_tell_have_places() -> None:
    """A metric that diverged left the whole page empty: its JSON had a NaN."""
    wide = study(({"x": "-1.7e308"}, 1.7e308), ({"x": "0"}, 0.0), ({"x": "1.7e308"}, -1.7e308))
    assert places(wide, "x") == [0, 0.5, 1] and places(wide, "accuracy") == [1, 0.5, 0]


def test_a_parameter_that_is_called_as_the_metric_has_an_axis_of_its_own() -> None:
    found = study(({"accuracy": "1"}, 0.1), ({"accuracy": "2"}, 0.2))
    assert [(point.key, point.text) for point in found.points] == [
        *(("params.accuracy", "1"), ("params.accuracy", "2")),
        *(("accuracy", "0.1"), ("accuracy", "0.2")),
    ]


def test_the_metric_that_is_drawn_is_in_the_table_and_all_runs_are_counted() -> None:
    names = tuple(f"m{number}" for number in range(20))
    found = board_sweep("s", Results((), (), names, Goal("m19", maximize=True)), {}, total=1000)
    assert found.metric in found.metrics and found.metrics[0] == "m0" and len(found.metrics) == 8
    assert len(found.runs) + found.left_out == 1000


def test_the_least_is_best_where_the_goal_says_so() -> None:
    values = (({"x": "1"}, 0.1), ({"x": "2"}, 0.3))
    assert [p.score for p in study(*values, goal="MINIMIZE").points if p.key == "accuracy"] == [1, 0]
    assert [run.best for run in study(*values, goal="MINIMIZE").runs] == [True, False]
    assert [run.best for run in study(*values).runs] == [False, True]


def test_a_trial_without_its_metric_is_on_the_axes_without_a_score() -> None:
    found = study(({"x": "1"}, 0.1), ({"x": "2"}, None), ({"x": "3"}, math.nan))
    assert [(p.run, p.score is None) for p in found.points if p.key == "x"] == [("1", False), ("2", True), ("3", True)]
    assert all(math.isfinite(value) for run in found.runs for value in run.metrics.values())


def test_curves_are_thinned_and_those_without_steps_have_none() -> None:
    (sweep,) = sweeps_of(month.history(400))
    having = {point.run for point in sweep.curves}
    assert having == {run.run for run in sweep.runs if run.metrics}
    many = tuple(MetricStep(step, {"loss": 1.0 / step}) for step in range(1, 900))
    metrics: dict[str, Any] = {"a": Metrics(many[-1].values, many, source="metrics.json")}
    assert board_sweep("s", Results((), (), ("loss",), Goal("loss", False)), metrics).curves == ()
