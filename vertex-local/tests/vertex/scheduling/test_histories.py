"""Whatever happens in whatever order: no quota and no machine is given twice, none is lost, all jobs end (W1, X2, N7).

Hypothesis writes histories of submissions, ends, deaths, preemptions, cancellations, clusters, scenarios and restarts
of the cloud, and after each step looks at the books.
"""

import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.vertex.scheduling.conftest import A100, HELD, Stage, gpu
from vertex_local.clock import ManualClock
from vertex_local.nodes.spec import Status
from vertex_local.quotas import routes as quotas
from vertex_local.quotas.limits import limits
from vertex_local.router import Router
from vertex_local.settings import Settings
from vertex_local.testing.bodies import autoscaled, cluster_body, job_body
from vertex_local.testing.calling import CLUSTERS, JOBS, REGION, Calling
from vertex_local.vertex import routes as vertex
from vertex_local.vertex.jobs import table as jobs
from vertex_local.vertex.jobs.records import ENDED, Run
from vertex_local.vertex.scheduling import availability, quota_usage
from vertex_local.vertex.scheduling.scheduler import Scheduler
from vertex_local.wire import ApiError
from vertex_local.world import open_world

KIND = "a2-highgpu-1g"
LIMITS = {
    "custom_model_training_preemptible_cpus": 48,
    "custom_model_training_preemptible_nvidia_a100_gpus": 3,
    "custom_model_training_nvidia_a100_gpus": 5,
    "custom_model_training_pd_ssd": 700,
}
RESERVED = {"reservationAffinity": {"reservationAffinityType": "ANY_RESERVATION"}}
COUNTS = st.integers(0, 5)
ENDS = st.sampled_from(
    [
        Status("exited"),
        *(Status("exited", code) for code in (1, 137, 139, 143)),
        Status("killed"),
        Status("lost"),
    ]
)


class Histories(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        clock = ManualClock(datetime(2026, 11, 20, 10, 0, tzinfo=UTC))
        chosen = {f"quota.{metric}": limit for metric, limit in LIMITS.items()}
        chosen |= {"submissions_per_minute": 0, "calls_per_minute": 0, "scale_idle_seconds": 60}
        world = open_world(self.folder, clock=clock, chosen=Settings().changed(chosen))
        calling = Calling(world, clock, Router([*vertex.routes(world), *quotas.routes(world)]))
        self.stage = Stage(calling)
        calling.set(**chosen)
        self.names: list[str] = []
        self.ended: dict[str, Any] = {}
        self.taken: Counter[tuple[str, str]] = Counter()
        self.reserved = 0
        self.waited: set[int] = set()
        self.stage.supply((0, KIND, "any", 1000))

    @rule(
        strategy=st.sampled_from(["", "SPOT", "FLEX_START"]),
        workers=st.integers(0, 2),
        reserved=st.booleans(),
        whole=st.booleans(),
        retries=st.booleans(),
        cluster=st.booleans(),
    )
    def submit(self, strategy: str, workers: int, reserved: bool, whole: bool, retries: bool, cluster: bool) -> None:
        machine = A100 | (RESERVED if reserved and not strategy and not cluster else {})
        pools = [gpu(machine), *([gpu(machine, workers)] if workers else [])]
        scheduling = {"strategy": strategy, "restartJobOnWorkerRestart": whole, "disableRetries": not retries}
        if strategy == "FLEX_START":
            scheduling["maxWaitDuration"] = "300s"
        if not strategy:
            del scheduling["strategy"]
        on = "cpu" if cluster and not strategy else None
        try:
            made = self.stage.calling.call("POST", JOBS, job_body(*pools, cluster=on, spec={"scheduling": scheduling}))
        except ApiError as error:
            assert error.code in (400, 404, 429), error.message
        else:
            self.names.append(made["name"])

    @rule(seconds=st.sampled_from([0, 1, 30, 61, 400]))
    def time_passes(self, seconds: float) -> None:
        self.stage.step(seconds)

    @rule(data=st.data(), end=ENDS)
    def a_replica_ends(self, data: st.DataObject, end: Status) -> None:
        living = [folder for folder, seen in self.stage.machines.seen.items() if not seen.ended]
        if living:
            self.stage.machines.seen[data.draw(st.sampled_from(living))] = end
            self.stage.step()

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        if self.names:
            name = data.draw(st.sampled_from(self.names))
            try:
                self.stage.calling.call("POST", f"/v1/{name}:cancel", {})
            except ApiError as error:
                assert error.status == "FAILED_PRECONDITION"

    @rule(machines=COUNTS, spot=COUNTS, flex=COUNTS, held=st.integers(0, 2), rate=st.sampled_from([0, 0, 60]))
    def another_scenario(self, machines: int, spot: int, flex: int, held: int, rate: float) -> None:
        self.stage.supply(
            (0, KIND, "any", machines),
            (0, KIND, "spot", spot),
            (30, KIND, "flex-start", flex),
            reservations={HELD: {"machine": KIND, "count": held}},
            spot={"random": {"rate_per_hour": rate, "seed": 1}},
        )

    @rule()
    def a_cluster_is_made(self) -> None:
        pool = autoscaled(1, 3) | {"machineSpec": A100}
        try:
            self.stage.calling.call("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body(pool))
        except ApiError as error:
            assert error.code in (409, 429)

    @rule(verb=st.sampled_from(["DELETE", "POST"]))
    def a_cluster_is_deleted_or_rebooted(self, verb: str) -> None:
        try:
            self.stage.calling.call(verb, f"{CLUSTERS}/cpu" + (":reboot" if verb == "POST" else ""), {})
        except ApiError as error:
            assert error.code in (400, 404)

    @rule()
    def the_cloud_is_started_again(self) -> None:
        self.stage.scheduler = Scheduler(self.stage.world, self.stage.machines)

    def runs(self) -> list[Run]:
        records = [jobs.get(self.stage.world.store, name) for name in self.names]
        return [job.run for job in records if job and job.run]

    @invariant()
    def the_books_are_right(self) -> None:
        world = self.stage.world
        used = quota_usage.in_use(world, REGION)
        bounds = limits(world, used, REGION)
        assert all(0 <= amount <= bounds[metric] or bounds[metric] == -1 for metric, amount in used.items()), used
        supply = availability.supply(world, REGION, world.clock.now())
        taken: Counter[tuple[str, str]] = Counter()
        for (kind, strategy), count in supply.used.items():
            taken[kind, strategy] += count
            taken[kind, "any"] += count
        for key, limit in supply.limits.items():
            assert taken[key] <= max(limit, self.taken[key]), (key, taken[key], limit)
        held = supply.reserved.get(HELD, 0)
        count = supply.reservations[HELD].count if HELD in supply.reservations else held
        assert held <= max(count, self.reserved)
        self.taken, self.reserved = taken, held

    @invariant()
    def jobs_have_all_their_machines_or_none(self) -> None:
        hosts: list[str] = []
        for run in self.runs():
            assert len(run.replicas) in (0, sum(demand.count for demand in run.demands))
            assert len({item.name for item in run.replicas}) == len(run.replicas)
            waits = ("JOB_STATE_QUEUED", "JOB_STATE_PENDING")
            has = ("JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_CANCELLING")
            assert run.state in (has if run.replicas else waits)
            hosts += [item.host for item in run.replicas]
        assert len(set(hosts)) == len(hosts), "no machine is given twice"

    @invariant()
    def nobody_tries_for_ever(self) -> None:
        for run in self.runs():
            assert run.restarts <= 6
            assert run.failures <= 3
            assert all(count <= 5 for count in run.worn.values())
            assert run.flex or run.tries < 3

    @invariant()
    def nobody_overtakes_in_the_flex_start_queue(self) -> None:
        flex = [run for run in self.runs() if run.flex]
        waiting = {run.number for run in flex if not run.replicas}
        begun = [run.number for run in flex if run.replicas and run.number in self.waited]
        assert all(number > max(begun, default=0) for number in waiting & self.waited), (begun, waiting)
        self.waited = waiting

    @invariant()
    def what_has_ended_stays_as_it_is(self) -> None:
        for name in self.names:
            body = self.stage.body(name)
            if body["state"] in ENDED:
                assert self.ended.setdefault(name, body) == body
                assert "endTime" in body

    def teardown(self) -> None:
        stage = self.stage
        for name in self.names:
            if stage.body(name)["state"] not in ENDED:
                stage.calling.call("POST", f"/v1/{name}:cancel", {})
        stage.step(3600)
        stage.step(3600)
        try:
            stage.calling.call("DELETE", f"{CLUSTERS}/cpu", {})
        except ApiError as error:
            assert error.code == 404
        stage.step()
        assert all(stage.body(name)["state"] in ENDED for name in self.names)
        assert (stage.used(), stage.machines_used()) == ({}, {}), "all that was drawn is given back"
        assert availability.supply(stage.world, REGION, stage.world.clock.now()).reserved == {}
        assert jobs.queues(stage.world.store) == []
        assert all(seen.ended for seen in stage.machines.seen.values())
        stage.world.store.close()
        stage.world.logs.close()
        shutil.rmtree(self.folder)


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
