"""Decisions about each cluster, their order, and what preview and up say of it. # N1 # N2 # B6 # D2 # D7"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.deployment.actions import of_catalog, of_current
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.summary import (
    doubtful_grants,
    made_otherwise,
    of_images,
    of_quota,
    outliving,
    overdue,
    shared_grants,
    workspace,
)
from slipway.deploying.deployment.workspace_plan import (
    RetiringWorkspaceResource,
    SharedGrant,
    WorkspacePlan,
    trainer_display_name,
)
from slipway.deploying.generations.action import Action, What, Why
from slipway.google.catalog.document import PublishedCatalog, as_published
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.google.quota.report import OfferVerdict, QuotaReport
from slipway.model.catalog.template import Template
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.spec import MachineSpec
from slipway.model.season import Season
from slipway.model.state import State, StateGrant, StateResource
from tests.builders.catalogs import offer, template

from .world import (
    EPOCH,
    ahead,
    alive,
    catalog_with,
    cluster,
    deleted,
    hash_of,
    id_of,
    job,
    live,
    planned,
    published_by,
    remembering,
    spec,
)

OLD, NEW, OTHER = spec(high=4), spec(high=6), spec("gpu")
ALIVE = cluster(id_of(OLD), hash_of(OLD))
SOON = replace(OTHER, season=Season(begins=EPOCH - timedelta(days=1)))
CATALOG = catalog_with(OLD)


def told(decided: Plan) -> list[tuple[str, What, Why]]:
    return [(action.cluster, action.what, action.why) for action in decided.actions]


def test_each_has_what_and_why() -> None:
    busy = planned((NEW,), live(ALIVE, jobs=(job(ALIVE.id),), catalog=CATALOG))
    assert told(busy) == [("cpu", What.CREATE, Why.ASKED), ("cpu", What.RETIRE, Why.JOBS)]
    in_place = replace(NEW, replacement="in-place")
    idle = planned((in_place,), live(ALIVE, catalog=CATALOG))
    assert told(idle) == [("cpu", What.CREATE, Why.ASKED), ("cpu", What.DELETE_FIRST, Why.IN_PLACE)]
    assert idle.of(What.DELETE_FIRST)[0].instead == (id_of(in_place),)
    held = planned((in_place,), live(ALIVE, jobs=(job(ALIVE.id),), catalog=CATALOG))
    assert told(held)[1:] == [("cpu", What.RETIRE, Why.JOBS), ("cpu", What.REFUSE, Why.JOBS)]
    gone = planned((OTHER,), live(ALIVE, catalog=CATALOG))
    assert told(gone)[1:] == [("cpu", What.DELETE_LAST, Why.IDLE)], "people are sent to it until the catalog is written"
    spent = planned((OTHER,), live(ALIVE, catalog=catalog_with(retiring=(ALIVE.id,))))
    assert told(spent)[1:] == [("cpu", What.DELETE_FIRST, Why.IDLE)]
    assert told(planned((OLD,), live(ALIVE, catalog=CATALOG))) == [("cpu", What.KEEP, Why.DEPLOYED)]
    assert told(planned((OLD,), live(ALIVE))) == [("cpu", What.TAKE, Why.ASKED)]


def test_what_time_alone_brings_says_so_and_an_edit_does_not() -> None:  # B6
    rests = planned((replace(SOON, season=Season(begins=EPOCH)),), live(), EPOCH - timedelta(days=1))
    catalog = as_published(remembering(*rests.dormant))
    same, edited = (replace(SOON, season=Season(begins=EPOCH)), SOON)
    assert told(planned((same,), live(catalog=catalog), EPOCH)) == [("gpu", What.CREATE, Why.SEASON)]
    assert told(planned((edited,), live(catalog=catalog), EPOCH)) == [("gpu", What.CREATE, Why.ASKED)]


@pytest.mark.parametrize("declared", [(), (OLD,), (NEW,), (replace(NEW, replacement="in-place"), SOON), (OTHER,)])
@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("state", ["RUNNING", "ERROR", "UPDATING"])
def test_by_its_catalog_a_review_decides_as_the_deployment_does(declared, busy: bool, state: str) -> None:  # type: ignore[no-untyped-def]
    seen = live(replace(ALIVE, state=state), jobs=(job(ALIVE.id),) * busy, catalog=CATALOG)
    decided = planned(declared, seen, EPOCH)
    listed = of_catalog(published_by(decided), CATALOG.whole, seen, EPOCH)
    assert [(action.cluster, action.id, action.what, action.why) for action in listed] == [
        (action.cluster, action.id, action.what, action.why) for action in decided.actions
    ]


def test_where_nobody_could_look_nothing_is_said_of_what_goes() -> None:
    unread = Unknown("denied", "list", "roles/aiplatform.viewer")
    for seen in (Live(unread, (), {}, CATALOG), Live((ALIVE,), unread, {}, CATALOG)):
        listed = of_catalog(published_by(planned((NEW,), live(), EPOCH)), CATALOG.whole, seen, EPOCH)
        assert [(action.cluster, action.what) for action in listed] == [("cpu", What.CREATE)]


NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
A1, A2, A3 = (spec("a", high) for high in (2, 3, 4))
ENDED = Season(ends=NOW - timedelta(hours=1))
X, C = spec("x"), spec("c")
OVER = replace(X, season=ENDED)


def there(declared: ClusterSpec, state: str = "RUNNING") -> PersistentResource:
    return alive(declared, state, create_time=NOW)


def ids(decided: Plan) -> set[str]:
    return {action.id for action in ahead(decided)}


def published(*clusters: ClusterSpec, retiring: tuple[ClusterSpec, ...] = ()) -> PublishedCatalog:
    return catalog_with(*clusters, retiring=tuple(map(id_of, retiring)))


def test_what_retired_idle_and_what_is_out_of_season_need_not_wait_for_what_is_made() -> None:
    seen = live(there(A1), there(A2), there(X), catalog=published(A2, X, retiring=(A1,)))
    decided = planned((A2, OVER, C), seen, NOW)
    assert ids(decided) == {id_of(A1), id_of(X)} == set(deleted(decided))
    assert decided.deleted_by_program == ids(decided) and seen.without(ids(decided)).clusters == (there(A2),)
    # What is going already, since an earlier deployment was killed, is waited for.
    going = planned((A2, OVER, C), live(there(A1, "STOPPING"), there(A2), catalog=published(A2, retiring=(A1,))), NOW)
    assert ids(going) == {id_of(A1)}


LISTED = PublishedCatalog({"x": id_of(X)})


NEEDED = {
    "nothing is made": ((A2, OVER), live(there(A1), there(A2), there(X), catalog=published(A2, X, retiring=(A1,)))),
    "its successor is made": ((A2,), live(there(A1), catalog=published(A1))),
    "it is made under another name": ((replace(A1, name="renamed"),), live(there(A1), catalog=published(A1))),
    "its successor is not offered yet": ((A2, C), live(there(A1), there(A2), catalog=published(A1))),
    "its successor is gone": ((A2,), live(there(A1), catalog=published(A2, retiring=(A1,)))),
    "its successor failed": ((A2,), live(there(A1), there(A2, "ERROR"), catalog=published(A2, retiring=(A1,)))),
    "it failed and holds nothing": (
        (A2, C),
        live(there(A1, "ERROR"), there(A2), catalog=published(A2, retiring=(A1,))),
    ),
    "another version offers it": ((OVER, C), live(there(X), catalog=LISTED)),
    "a damaged catalog": ((OVER, C), live(there(X, "STOPPING"), catalog=PublishedCatalog(damage="gone bad"))),
    "no catalog": ((OVER, C), live(there(X, "STOPPING"))),
}


@pytest.mark.parametrize(("declared", "seen"), NEEDED.values(), ids=NEEDED)
def test_what_may_still_be_needed_goes_after_all_is_made(declared: tuple[ClusterSpec, ...], seen: Live) -> None:
    decided = planned(declared, seen, NOW)
    assert deleted(decided) and not ahead(decided) and not decided.problems


TODAY = datetime(2026, 11, 20, 12, tzinfo=UTC)
WORKERS = PoolSpec("workers", MachineSpec("n1-standard-8"), min=1, max=4, autoscaled=True, replicas=1)
CPU = ClusterSpec("cpu", (WORKERS,))
RETIRED = PersistentResource("cpu-0000000", "RUNNING", {"slipway-name": "cpu"}, ())
RETIRES = Action("cpu", RETIRED.id, What.RETIRE, Why.JOBS, living=RETIRED)


def listed(name: str, state: str, minutes: int | None, **labels: str) -> VertexJob:
    start = TODAY - timedelta(minutes=minutes) if minutes is not None else None
    created = TODAY - timedelta(hours=2)
    return VertexJob(
        name, name, state, labels, persistent_resource_id=RETIRED.id, create_time=created, start_time=start
    )


def page(of: WorkspacePlan) -> list[str]:
    return list(workspace(Plan(workspace=of), TODAY))


def test_what_becomes_of_accounts_and_buckets_and_late_clusters(snapshot: SnapshotAssertion) -> None:
    """What no job needs goes, but people's results stay."""
    tune = listed("tune-27b", "JOB_STATE_RUNNING", 14, **{"slipway-user": "ada"})
    digits = listed("digits", "JOB_STATE_QUEUED", None)
    retiring = (
        RetiringWorkspaceResource("trainer", "trainer.old", "old@acme.iam.gserviceaccount.com", (tune, digits)),
        RetiringWorkspaceResource("work", "work@acme-far", "acme-far", (), Why.IN_USE),
    )
    released = (
        RetiringWorkspaceResource("trainer", "trainer.old", "old@acme.iam.gserviceaccount.com"),
        RetiringWorkspaceResource("work", "work@acme-far", "acme-far"),
        RetiringWorkspaceResource("work", "work.theirs", "theirs", adopted=True),
    )
    late = replace(RETIRES, jobs=(listed("tune-27b", "JOB_STATE_RUNNING", 14),), overdue=True)
    said = (*page(WorkspacePlan(retiring=retiring)), *page(WorkspacePlan(released=released)), overdue(late))
    assert "\n".join(said) == snapshot


def test_grants_that_stay_for_another_stack_are_told_and_how_to_end_what_nobody_can_tell(
    snapshot: SnapshotAssertion,
) -> None:  # N1 P5
    team, trainer = "group:ml@acme.example", "serviceAccount:t@acme.iam.gserviceaccount.com"
    unread = ("gs://acme-prod-catalog/catalog.json: denied; it needs roles/storage.objectViewer",)
    needed = SharedGrant(StateGrant("submit", "roles/aiplatform.user", team), ("dev", "prod"))
    untold = [
        SharedGrant(StateGrant(role, f"roles/{role}", trainer, on), unread=unread)
        for role, on in (("viewer", ""), ("user", "gs://acme-work"), ("actor", "t@acme.iam.gserviceaccount.com"))
    ]
    (later,), (at_the_end,) = doubtful_grants([needed, *untold]), doubtful_grants([needed, *untold], "acme")
    assert "\n\n".join((shared_grants([needed, *untold]), later, at_the_end)) == snapshot
    assert (shared_grants(untold), doubtful_grants([needed])) == ("", ())


def test_an_alternative_that_costs_less_has_the_minus_that_all_sums_have() -> None:
    larger = replace(CPU, pools=(replace(WORKERS, min=2),))
    made = CurrentCluster(replace(CPU, alternative=1), "cpu-1a2b3c4", "", import_=True)
    for asked, change in ((larger, "−$0.46/h"), (CPU, "+$0.00/h")):
        first = CurrentCluster(asked, "cpu-0000000", "", import_=False)
        (words,) = made_otherwise(Plan((of_current(first),)), Plan((of_current(made),)), (), "us-central1")
        assert f" a month) ({change} idle)" in words


def test_a_destruction_tells_what_it_leaves_and_how_to_delete_results(snapshot: SnapshotAssertion) -> None:  # N13
    """Buckets, accounts and clusters that somebody else made outlive the stack; its own account does not."""
    buckets = (
        StateResource("catalog", "acme-dev-catalog", "acme-dev", "us-central1"),
        StateResource("work", "acme-dev-work", "acme-dev", "us-central1"),
    )
    theirs, own = "ml-training@acme-dev.iam.gserviceaccount.com", "dev-trainer@acme-dev.iam.gserviceaccount.com"
    adopted = State(
        buckets=(replace(buckets[0], logical="catalog.acme-dev-catalog"), buckets[1]),
        adopted=("team-a",),
        called={theirs: "", own: trainer_display_name("dev")},
    )
    assert "\n\n".join(map(outliving, (State(buckets=buckets), adopted))) == snapshot
    assert outliving(State()) == ""


def test_unavailable_offers_are_one_warning_and_those_that_wait_for_a_season_are_none() -> None:  # N3
    closed, open_ = OfferVerdict(False, "short by 8", lacks_quota=True), OfferVerdict(True)
    lacking = KINDS["offer-unavailable"].of(Subject("quota", "h100"), "quota h100 in us-central1, limit 0, …")
    unchecked = KINDS["quota-unknown"].of(Subject("pool", "cpu/all"), "pool cpu/all: disks are not checked")
    offers = {
        "lora": {"pool": open_, "spot": closed, "flex-start": closed},
        "digits": {"pool": replace(closed, dormant=True)},
    }
    assert list(of_quota(QuotaReport(findings=(lacking, unchecked), offers=offers))) == [
        "unavailable: spot of lora (short by 8) and flex-start of lora (short by 8)",
        "pool cpu/all: disks are not checked",
    ]
    (many,) = of_quota(QuotaReport(findings=(), offers={"lora": {f"spot {each}": closed for each in range(40)}}))
    assert many.endswith(" and 37 more, which `slipway templates` marks once deployed")


def test_an_image_past_its_last_day_is_told_when_a_template_comes_to_run_it() -> None:  # N3
    def running(name: str, image: str) -> Template:
        package = {"executorImageUri": f"us-docker.pkg.dev/vertex-ai/training/{image}:latest"}
        request = {"jobSpec": {"workerPoolSpecs": [{"pythonPackageSpec": package}]}}
        return template(name, offer(request=request))

    old, new = running("lora", "pytorch-gpu.2-3.py310"), running("digits", "pytorch-gpu.2-3.py310")
    own, newest = running("own", "mine"), running("newest", "pytorch-gpu.2-4.py310")
    every = {each.name: each for each in (old, new, own, newest)}
    after = datetime(2026, 7, 25, tzinfo=UTC)
    ended = (
        "image pytorch-gpu.2-3.py310 may be gone: Google's list offered it until 2026-04-24\n"
        "  fix: training/pytorch-gpu.2-4.py310, the newest"
    )
    [first] = of_images(every, {}, after)
    assert first.startswith(f"lora and digits: {ended}")
    [second] = of_images(every, {"lora": old}, after)
    assert second.startswith(f"digits: {ended}")
    assert list(of_images(every, every, after)) == list(of_images(every, {}, datetime(2025, 4, 24, tzinfo=UTC))) == []
