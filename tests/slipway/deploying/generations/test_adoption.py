"""What somebody else made is taken as it is, or not at all: never made, changed, retired or deleted. # N13"""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slipway.deploying.deployment.plan import Plan, plan
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.model.cluster import Adoption, ClusterSpec, DnsPeering, PscInterface
from slipway.model.labels import NAME_LABEL, STACK_LABEL
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.state import State, StateResource
from tests.builders.clusters import having
from tests.slipway.deploying.deployment.world import (
    PROJECT,
    REGION,
    STACK,
    alive,
    catalog_with,
    creates,
    deleted,
    id_of,
    job,
    left,
    live,
    planned,
    spec,
)

LINES = {"": "f.yaml:5", "id": "f.yaml:6", "pools": "f.yaml:7", "pools.workers": "f.yaml:8"}
ENTRY = replace(spec("research"), adopted=Adoption("team-a", LINES), custom_service_account=False)
POOL = ResourcePool("workers", MachineSpec("n1-standard-8"), 1, 0, 1, 4)
LIVES = PersistentResource("team-a", "RUNNING", {"team": "a"}, (POOL,), display_name="of team a")
KEY = "slipway:persistentResources.research"


def problem(of: Plan) -> str:
    (only,) = of.problems
    assert not of.current and not deleted(of)
    return only


def test_what_is_as_the_entry_says_is_current_and_nothing_else() -> None:
    decided = planned((ENTRY,), live(LIVES))
    (current,) = decided.current
    assert (current.id, current.import_, current.state) == ("team-a", True, "RUNNING")
    assert (current.spec.display_name, current.spec.labels) == ("of team a", {"team": "a"})
    assert creates(decided) == () and not (deleted(decided) or decided.retiring or decided.refusals or left(decided))


def test_a_namesake_in_another_region_is_not_it() -> None:
    away = replace(LIVES, name="projects/1/locations/us-east4/persistentResources/team-a", pools=())
    assert planned((ENTRY,), live(LIVES, away)) == planned((ENTRY,), live(LIVES))
    assert problem(planned((ENTRY,), live(away))) == problem(planned((ENTRY,), live()))


def test_it_is_used_while_it_grows_or_reboots() -> None:
    fixed = replace(ENTRY, pools=(replace(ENTRY.pools[0], autoscaled=False, min=2, max=2, replicas=2),))
    growing = replace(LIVES, state="UPDATING", pools=(replace(POOL, min=None, max=None),))
    assert (
        planned((fixed,), live(growing)).current and planned((ENTRY,), live(replace(LIVES, state="REBOOTING"))).current
    )


GPUS = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)


def pools(*others: ResourcePool, **changes: Any) -> dict[str, object]:
    return {"pools": (replace(POOL, **changes), *others)}


@pytest.mark.parametrize(
    ("lives", "line", "words", "mend"),
    [
        ({"network": "projects/1/global/networks/n"}, "5  {}.network", "says none", "write `network: projects/1/"),
        (
            {"psc": PscInterface(dns_peerings=(DnsPeering("a.", "p", "n"),))},
            "5  {}.pscInterface.dnsPeeringConfigs",
            "has a. p n",
            "`dnsPeeringConfigs: [{domain: a., targetProject: p, targetNetwork: n}]`",
        ),
        ({"reserved_ip_ranges": ("s", "r")}, "5  {}.reservedIpRanges", "has r, s", "write `reservedIpRanges: [r, s]`"),
        (pools(min=None, max=None), "8  {}.pools.workers.replicas", "has 1", "write `replicas: 1`"),
        (
            pools(machine=GPUS),
            "8  {}.pools.workers.accelerator",
            "says none, and team-a has 2 NVIDIA_TESLA_T4",
            "write `accelerator: {type: NVIDIA_TESLA_T4, count: 2}`",
        ),
        (
            pools(machine=MachineSpec("n1-standard-8", disk=Disk("pd-ssd", 200))),
            "8  {}.pools.workers.disk.sizeGb",
            "says 100, and team-a has 200",
            "write `sizeGb: 200`",
        ),
        (
            pools(replace(POOL, id="gpus", machine=GPUS)),
            "7  {}.pools.gpus",
            "says none, and team-a has 1–4 n1-standard-8 with 2 NVIDIA_TESLA_T4",
            "accelerator: {type: NVIDIA_TESLA_T4, count: 2}, disk: {type: pd-ssd, sizeGb: 100}, replicas: {min: 1",
        ),
    ],
)
def test_what_differs_is_named_with_its_line_and_mended_in_the_file(
    lives: dict[str, object], line: str, words: str, mend: str
) -> None:
    said = problem(planned((ENTRY,), live(having(LIVES, **lives))))
    assert said.startswith(f"f.yaml:{line.format(KEY)}: ") and words in said and mend in said


def test_a_pool_that_is_not_there_is_named_with_those_that_are() -> None:
    said = planned((replace(ENTRY, pools=(replace(ENTRY.pools[0], name="work"),)),), live(LIVES)).problems
    gone, there = said
    assert gone.startswith(f"f.yaml:7  {KEY}.pools.work: ") and "take `work` out" in gone
    assert there.startswith(f"f.yaml:8  {KEY}.pools.workers: ") and "write `workers: {machine: " in there


@pytest.mark.parametrize(
    ("lives", "words"),
    [
        (replace(LIVES, name="team-b"), f"no cluster team-a in {REGION} of {PROJECT}; did you mean team-b?"),
        (replace(LIVES, name="x"), f"no cluster team-a in {REGION} of {PROJECT}; there: x; name another"),
        (replace(LIVES, state="ERROR", error="no machines"), "team-a is in ERROR (no machines)"),
        (replace(LIVES, state="STOPPING"), "team-a is in STOPPING"),
        (replace(LIVES, state="PROVISIONING"), "in PROVISIONING, so nobody could submit to it; deploy again"),
        (replace(LIVES, labels={STACK_LABEL: "dev"}), "team-a belongs to stack dev (slipway-stack)"),
        (replace(LIVES, labels={STACK_LABEL: STACK}), "this stack made team-a"),
        (
            replace(LIVES, labels={STACK_LABEL: STACK, NAME_LABEL: "cpu"}),
            "this stack made team-a as cluster cpu; leave `id` out, and keep the name",
        ),
    ],
)  # fmt: skip
def test_what_can_not_be_adopted_says_why_at_the_line_of_its_id(lives: PersistentResource, words: str) -> None:
    said = problem(planned((ENTRY,), live(lives)))
    assert said.startswith(f"f.yaml:6  {KEY}.id: ") and words in said


def test_what_the_engine_has_as_its_own_is_not_adopted() -> None:
    """One of ours whose labels somebody took away: the engine would delete it when no entry makes it."""
    known = State(clusters=(StateResource("team-a", "team-a", PROJECT, REGION),))
    decided = plan((ENTRY,), live(LIVES), stack=STACK, project=PROJECT, region=REGION, known=known)
    assert "team-a is in the state" in problem(decided) and "pulumi state delete" in problem(decided)


def test_an_id_that_the_stack_gives_to_its_own_is_not_adopted() -> None:
    made = spec("cpu")
    id_ = id_of(made, 2)
    said = problem(planned((made, replace(ENTRY, adopted=Adoption(id_))), live(replace(LIVES, name=id_))))
    assert said.startswith(f"{KEY}.id: {id_} is an id")


def test_a_name_goes_from_a_cluster_of_ours_to_an_adopted_one_and_back() -> None:
    own = spec("research")
    ours = alive(own)
    before = PublishedCatalog({"research": ours.id})
    busy = planned((ENTRY,), live(ours, LIVES, jobs=(job(ours.id),), catalog=before))
    assert [cluster.id for cluster in busy.current] == ["team-a"] and [cluster.id for cluster in busy.retiring] == [
        ours.id
    ]
    assert deleted(planned((ENTRY,), live(ours, LIVES, catalog=before))) == (ours.id,)
    after = PublishedCatalog({"research": "team-a"}, adopted=frozenset({"team-a"}))
    back = planned((own,), live(LIVES, jobs=(job("team-a"),), catalog=after))
    assert creates(back) == (own,) and left(back) == {"research": "team-a"} and not (deleted(back) or back.retiring)


def test_a_protected_cluster_does_not_become_an_adopted_one_unseen() -> None:
    own: ClusterSpec = replace(spec("research"), replacement="protect", retire_within=timedelta(days=1))
    ours = alive(own)
    (refusal,) = planned((ENTRY,), live(ours, LIVES, catalog=catalog_with(own))).refusals
    assert "`id`" in refusal.why
