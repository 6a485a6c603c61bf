"""Shapes of one job in order: a submission falls through them by capacity, and stays one request. # N3 N7 N23"""

from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import AnswerUnknown, Cancelled
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.same_request import same
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.submitter import Submitter, place_of

from .fallback_command import FAULTS, STARTS, Told, catalog
from .service import Context, Journal, Killed, Service, is_passing

SMALL, LARGE = "n1-standard-4", "a2-ultragpu-2g"
MACHINES = {
    SMALL: {"machineType": SMALL},
    LARGE: {"machineType": LARGE, "acceleratorType": "NVIDIA_A100_80GB", "acceleratorCount": 2},
}


def on(shape: str, offer: Offer, wait: float | None) -> Offer:
    (pool,) = offer.spec["workerPoolSpecs"]
    spec = {**offer.spec, "workerPoolSpecs": [{**pool, "machineSpec": MACHINES[shape]}]}
    return replace(offer, shape=shape, wait=wait, request={**offer.request, "jobSpec": spec})


def deployed(*, launcher: bool = True) -> Catalog:
    """The small machine of the pool, then as Spot; else the large one as Spot, then on demand."""
    usual = catalog(launcher=launcher)
    template = usual.templates["digits"]
    pool, spot, on_demand = template.offers
    offers = (on(SMALL, pool, 60.0), on(SMALL, spot, 30.0), on(LARGE, spot, 30.0), on(LARGE, on_demand, None))
    return replace(usual, templates={"digits": replace(template, offers=offers)}, confirm_above=1000.0)


def prepared(request_id: str = "r1", **asked: Any) -> PreparedSubmission:
    return prepare(deployed(), SubmissionRequest("digits", **asked), "ada").under(request_id)


def order(**asked: Any) -> list[tuple[str, float | None]]:
    return [(candidate.label, candidate.wait) for candidate in prepared(**asked).candidates]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [("pool cpu on S", 60), ("spot on S", 30), ("spot on L", 30), ("on-demand on L", None)]),
        ({"capacity_type": "spot"}, [("spot on S", 30), ("spot on L", None)]),
        ({"capacity_type": "spot", "waits": {"spot": 9.0}}, [("spot on S", 9), ("spot on L", 9)]),
        ({"capacity_type": "on-demand"}, [("on-demand on L", None)]),
        (
            {"waits": {"spot": 9.0}},
            [("spot on S", 9), ("pool cpu on S", 60), ("spot on L", 9), ("on-demand on L", None)],
        ),
        (
            {"waits": {"pool": 9.0}, "then": ("spot",)},
            [("pool cpu on S", 9), ("spot on S", None), ("spot on L", None)],
        ),
    ],
)
def test_all_capacity_types_of_a_shape_come_before_the_next_shape(
    asked: dict[str, Any], expected: list[tuple[str, float | None]]
) -> None:  # N3
    names = {"S": SMALL, "L": LARGE}
    assert order(**asked) == [(f"{label[:-1]}{names[label[-1]]}", wait) for label, wait in expected]


@pytest.mark.parametrize(
    ("asked", "types"),
    [
        ({}, ["pool", "spot", "on-demand", "spot"]),
        ({"waits": {"spot": 9.0}}, ["spot", "pool", "spot", "on-demand"]),
        ({"then": ("spot", "on-demand")}, ["spot", "spot", "on-demand"]),
    ],
)
def test_types_that_no_flag_names_come_in_each_shapes_own_order(asked: dict[str, Any], types: list[str]) -> None:  # N3
    usual = deployed()
    template = usual.templates["digits"]
    pool, spot, large_spot, large_on_demand = template.offers
    offers = (pool, spot, replace(large_on_demand, wait=30.0), replace(large_spot, wait=None))
    it = replace(usual, templates={"digits": replace(template, offers=offers)})
    candidates = prepare(it, SubmissionRequest("digits", **asked), "ada").candidates
    assert [candidate.offer.capacity_type for candidate in candidates] == types


@given(st.permutations([SMALL, LARGE, "g2-standard-48"]), st.lists(st.sampled_from(["pool", "spot", "on-demand"])))
def test_whatever_flags_say_of_types_the_order_of_shapes_is_the_templates(
    shapes: list[str], then: list[str]
) -> None:  # N3
    usual = deployed()
    template = usual.templates["digits"]
    several = [
        replace(offer, shape=shape) for shape in shapes for offer in catalog(launcher=True).templates["digits"].offers
    ]
    it = replace(usual, templates={"digits": replace(template, offers=tuple(several))})
    asked = SubmissionRequest("digits", then=tuple(dict.fromkeys(then)))
    offers = [candidate.offer for candidate in prepare(it, asked, "ada").candidates]
    assert list(dict.fromkeys(offer.shape for offer in offers)) == shapes
    types = list(dict.fromkeys(then)) or ["pool", "spot", "on-demand"]
    assert [offer.capacity_type for offer in offers] == types * len(shapes), "and that of types the same for each"


def test_the_code_is_told_the_machines_that_it_has() -> None:  # N23
    bodies = [VertexJob.read(candidate.body, candidate.kind) for candidate in prepared().candidates]
    (small,), (large,) = bodies[0].worker_pools, bodies[-1].worker_pools
    told = {name: f"SLIPWAY_{name}" for name in ("SHAPE", "REPLICAS", "GPUS", "GPU_MEMORY_GB")}
    assert [bodies[0].shape, bodies[-1].shape] == [SMALL, LARGE]
    assert {*small.env} >= {f"{told['SHAPE']}={SMALL}", f"{told['REPLICAS']}=1", f"{told['GPUS']}=0"}
    assert {*large.env} >= {f"{told['GPUS']}=2", f"{told['GPU_MEMORY_GB']}=80"}


def test_a_request_is_the_same_one_on_another_shape_and_its_place_is_found() -> None:  # N7
    asked = prepared()
    for place, candidate in enumerate(asked.candidates):
        job = VertexJob.read({**candidate.body, "name": "projects/1/locations/r/customJobs/7"}, candidate.kind)
        if candidate.offer.cluster:
            job = replace(job, persistent_resource_id="cpu-1")
        assert same(asked.candidates[0].request, job) is job
        assert place_of(asked, job) == place
    other = prepare(catalog(launcher=False), SubmissionRequest("digits"), "ada").under("r1").candidates[0].request
    with pytest.raises(Exception, match="used before, for something else"):
        same(asked.candidates[0].request, other.job)


def test_a_template_that_gets_shapes_knows_the_jobs_that_it_had_before() -> None:  # N7
    before = prepare(catalog(launcher=True), SubmissionRequest("digits"), "ada").under("r1").candidates[1].request
    after = prepared().candidates
    assert same(after[0].request, before.job) is before.job
    assert same(before, after[1].request.job) is after[1].request.job, "and where they are taken away again"
    assert place_of(prepared(), before.job) == 1, "the first by its capacity type"


def command(service: Service, *, again: bool) -> SubmissionResult:
    context: Any = Context(service, deployed(launcher=service.launcher))
    journal: Any = Journal(service)
    asked = prepare(context.catalog, SubmissionRequest("digits"), "ada")
    return Submitter(context, journal, Told(agrees=True), RetryPolicy()).submit(asked, "r1", repeated=again)


@given(st.fixed_dictionaries(dict.fromkeys(("create", "get", "list", "cancel", "take", "read"), FAULTS)), STARTS)
def test_whatever_is_killed_one_job_runs_on_the_first_shape_that_starts(
    faults: dict[str, list[str]], starts: list[int | None]
) -> None:  # N2 N3 N7
    service = Service(launcher=True, faults=faults, starts=starts)
    for attempt in range(60):
        service.dead = False
        try:
            command(service, again=attempt > 0)
            break
        except (Killed, AnswerUnknown):
            continue
        except Cancelled:
            break
        except CloudError as problem:
            assert is_passing(problem), problem
    else:
        raise AssertionError("it never ended")
    service.end_of_days()
    assert len(service.runs) == 1 and service.ended_runs == []
    tried = [VertexJob.read(job.body, prepared().kind) for job in service.jobs]
    ways = list(dict.fromkeys((job.shape, job.labels["slipway-capacity-type"]) for job in tried))
    known = [(SMALL, "pool"), (SMALL, "spot"), (LARGE, "spot"), (LARGE, "on-demand")]
    assert ways == sorted(ways, key=known.index), "in the template's order, and none twice"
    assert len(set(chain(ways))) == len(ways)


def test_where_the_first_way_waits_all_ways_are_compared_by_what_is_known() -> None:  # N16 N23
    for busy, compared in ((1, ["pool cpu on", "spot on", "spot on", "on-demand on"]), (0, [])):
        show = Told(agrees=True)
        context: Any = Context(Service(launcher=True, busy=busy, starts=[1]), deployed())
        journal: Any = Journal(context._service)
        asked = prepare(context.catalog, SubmissionRequest("digits"), "ada")
        Submitter(context, journal, show, RetryPolicy()).submit(asked, "r1", repeated=False)
        earliest = show.choices[0].earliest
        assert [start.label.rpartition(" ")[0] for start in earliest] == compared
        assert all(start.least is None for start in earliest), "no earlier job tells of any"
