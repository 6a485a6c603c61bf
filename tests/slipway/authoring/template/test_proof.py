"""Proofs of a template before anything is deployed, by capacity type."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.template.proof import Placement, StackResources, misfits, place_all, prove, refuse
from slipway.authoring.template.stack_machines import on_stack
from slipway.base.errors import ConfigError, PolicyError
from slipway.model.cluster import Adoption, Alternative, Reservation
from slipway.model.machines.spec import Disk
from slipway.model.season import Season
from slipway.template import ANY_RESERVATION, JobTemplate, Metric, Parameter, Search, Shape, Study, Variant, WorkerPool
from tests.builders.templates import job_template as template
from tests.slipway.authoring.stack.files import read, with_config

from .conftest import cluster, pool


def refused(*clusters: Any, **changes: Any) -> ConfigError:
    with pytest.raises(ConfigError) as error:
        prove(template(**changes), StackResources(clusters))
    return error.value


def test_each_worker_pool_finds_its_pool() -> None:  # P2 P4
    cpu = cluster()
    offers = prove(template(), StackResources((cpu,)))
    assert offers == (Placement("pool", cpu, (cpu.pool("head"), cpu.pool("workers"))), Placement("spot"))  # type: ignore[arg-type]


def test_a_disk_left_out_is_the_same_in_a_template_as_in_a_stack_file() -> None:
    text = "slipway:persistentResources: {new: {pools: {main: {machine: n4-standard-8, replicas: 1}}}}"
    (new,) = read(with_config(text)).clusters
    asked = template(worker_pools=(WorkerPool("main", "n4-standard-8"),), capacity_types=("pool",), parameters=())
    (offer,) = prove(asked, StackResources((new,)))
    assert offer.pools == new.pools


def test_every_cluster_that_fits_is_offered_in_order() -> None:
    first, second = cluster(name="a"), cluster(name="b")
    other = cluster(pool(type="n1-standard-16"), name="c")
    offers = prove(template(), StackResources((first, other, second)))
    assert [offer.cluster.name for offer in offers if offer.cluster] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"type": "n1-standard-16"}, "machine n1-standard-8"),
        ({"accelerator": "NVIDIA_TESLA_T4", "accelerator_count": 1}, "accelerator none"),
        ({"disk": Disk("pd-standard", 100)}, "disk pd-ssd 100 GB"),
        ({"disk": Disk("pd-ssd", 200)}, "disk pd-ssd 100 GB"),
    ],
)
def test_a_misfit_is_shown_field_by_field(change: dict[str, Any], row: str) -> None:  # P2
    error = refused(cluster(pool("head", "n1-standard-4"), pool(**change)))
    assert error.what.startswith("template dask-digits fits no pool")
    (line,) = error.why.splitlines()
    assert line.startswith(f"worker pool workers needs {row}, ") and "pool cpu/workers has " in line
    assert line.count(" needs ") == line.count(" has ") == 1
    fix = "let templates/dask_digits.py ask for what a pool has, or declare a pool that has all it asks for"
    assert error.fix == fix, "the nearest pool may be another template's"


def test_a_machine_by_its_key_is_mended_under_that_key() -> None:
    entry = "{machine: n1-standard-8, disk: {type: pd-ssd, sizeGb: 200}}"
    pools = "{main: {machine: n1-standard-8, disk: {sizeGb: 100}, replicas: 1}}"
    stack = read(
        with_config(f"slipway:machines: {{small: {entry}}}\nslipway:persistentResources: {{c: {{pools: {pools}}}}}")
    )
    asked = template(worker_pools=(WorkerPool("main", "small", Disk("pd-ssd", 100)),), parameters=())
    with pytest.raises(ConfigError) as error:
        prove(on_stack(asked, stack), StackResources(stack.clusters))
    assert error.value.fix.startswith("let slipway:machines.small ask for what a pool has, or ")
    disk = Disk("pd-ssd", 200)
    roles = WorkerPool("main", "small", disk), WorkerPool("rest", "small", disk, replicas=3)
    more, (home,) = template(worker_pools=roles, parameters=()), stack.clusters
    main = home.pools[0]
    alike = replace(home, pools=(replace(main, machine=replace(main.machine, disk=disk)),))
    with pytest.raises(ConfigError) as error:
        prove(on_stack(more, stack), StackResources((alike,)))
    assert error.value.fix.endswith(" ask for fewer machines, or give c/main more"), "a key has no number"
    assert "slipway:machines" not in error.value.fix


def test_no_pool_that_another_worker_pool_takes_is_to_be_given_other_machines() -> None:
    error = refused(cluster(pool("head", "n1-standard-4")))
    assert error.fix == "add a pool for workers to cluster cpu"


def test_the_nearest_pool_is_the_one_with_fewest_differences() -> None:  # P2
    far = pool("far", "e2-standard-4", disk=Disk("pd-standard", 500))
    near = pool("near", "n1-standard-8", disk=Disk("pd-ssd", 200))
    error = refused(cluster(far, name="x"), cluster(pool("head", "n1-standard-4"), far, near, name="y"))
    assert "nearest pool y/near" in error.why


def test_the_nearest_pool_is_the_same_whatever_the_order() -> None:
    """A stack file keeps the order of its keys, Pulumi's configuration has them by name: `check` and preview agree."""
    head = pool("head", "n1-standard-4")
    near = [pool(name, "n1-standard-8", disk=Disk("pd-ssd", 200)) for name in ("zebra", "ant")]
    clusters = [cluster(head, *near, name="y"), cluster(head, *near, name="b")]
    turned = [cluster(*near[::-1], head, name=parameter.name) for parameter in clusters[::-1]]
    assert "nearest pool b/ant" in refused(*clusters).why
    assert refused(*clusters).why == refused(*turned).why
    same = [pool(name, "n1-standard-8", max=1) for name in ("zebra", "ant")]
    one, two = refused(cluster(head, *same)), refused(cluster(*same[::-1], head))
    assert "cpu/ant and cpu/zebra" in one.why and one.why == two.why


@pytest.mark.parametrize("season", [Season(begins=datetime(2027, 1, 10, tzinfo=UTC)), Season(idle_limit=timedelta(1))])
def test_of_equally_near_clusters_one_that_is_there_all_the_time_comes_first(season: Season) -> None:
    head, other = pool("head", "n1-standard-4"), Disk("pd-ssd", 200)
    passing = replace(cluster(head, pool(disk=other), name="a"), season=season)
    lasting = cluster(head, pool(type="n1-standard-96"), name="b")
    assert "nearest pool b/" in refused(passing, lasting).why
    farther = replace(lasting, custom_service_account=False)
    assert "nearest pool a/workers" in refused(passing, farther).why


def test_a_cluster_of_googles_service_agent_takes_no_trainer() -> None:
    error = refused(cluster(custom_service_account=False))
    assert "service account custom, nearest pool" in error.why
    assert "serviceAccount.custom: false" in error.why
    assert "`serviceAccount: {custom: false}` out of" in error.fix
    theirs = cluster(custom_service_account=False, adopted=Adoption("team-a"))
    assert "--enable-custom-service-account" in refused(theirs).fix
    both = refused(replace(theirs, pools=(pool("head", "n1-standard-4"),))).fix
    assert both.startswith("let templates/dask_digits.py ask for what "), "nobody here makes that cluster anew"


def test_worker_pools_of_one_shape_share_a_pool_up_to_its_maximum() -> None:  # P3
    same = (
        WorkerPool("scheduler", "n1-standard-8", args=("${trees}",)),
        WorkerPool("workers", "n1-standard-8", replicas=3),
    )
    parameter = Parameter("trees", int, default=1)
    offers = prove(template(worker_pools=same, parameters=(parameter,)), StackResources((cluster(pool(max=4)),)))
    assert [found.name for found in offers[0].pools] == ["workers", "workers"]
    error = refused(cluster(pool(max=3)), worker_pools=same, parameters=(parameter,))
    assert "replicas" in error.why
    assert "1 + 3 = 4" in error.why
    assert "max 3" in error.why


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_an_offer_never_asks_a_pool_for_more_than_its_maximum(wanted: list[int], sizes: list[int]) -> None:  # P3
    chief = WorkerPool("chief", "n1-standard-8", args=("${trees}",))
    roles = tuple(WorkerPool(f"r{i}", "n1-standard-8", replicas=count) for i, count in enumerate(wanted))
    asked = template(
        worker_pools=(chief, *roles), parameters=(Parameter("trees", int, default=1),), capacity_types=("pool",)
    )
    home = cluster(*(pool(f"p{i}", max=size, min=1) for i, size in enumerate(sizes)))
    counts = [1, *wanted]
    fits = any(
        all(sum(n for n, at in zip(counts, places, strict=True) if at == i) <= size for i, size in enumerate(sizes))
        for places in _placements(len(counts), len(sizes))
    )
    if not fits:
        with pytest.raises(ConfigError):
            prove(asked, StackResources((home,)))
        return
    used: dict[str, int] = {}
    for count, found in zip(counts, prove(asked, StackResources((home,)))[0].pools, strict=True):
        used[found.name] = used.get(found.name, 0) + count
    assert all(used.get(found.name, 0) <= found.max for found in home.pools)


def _placements(items: int, places: int) -> list[tuple[int, ...]]:
    if not items:
        return [()]
    return [(at, *rest) for at in range(places) for rest in _placements(items - 1, places)]


NEAR = ("n1-standard-16", "n1-standard-16", "n1-standard-32")
HEAD = pool("head", "n1-standard-4")


def test_all_templates_that_fit_nowhere_are_named_together() -> None:
    placed, errors = place_all((template(), template(name="other")), StackResources(()))
    with pytest.raises(ConfigError, match=r"^templates dask-digits and other fit no pool") as told:
        refuse(errors)
    assert told.value.why == "its capacity type 'pool' needs one" and told.value.fix.endswith("capacity_types in them")
    unlike = [refused(cluster(HEAD, pool(type=type_)), name=name) for name, type_ in zip("abc", NEAR, strict=True)]
    with pytest.raises(ConfigError, match=r"^templates a, b and c fit no pool") as told:
        refuse(unlike)
    same, other = told.value.why.splitlines()
    assert same.startswith("templates a and b: each needs machine n1-standard-8, nearest pool cpu/workers has ")
    assert other.startswith("template c: worker pool ")
    assert set(placed) == {"dask-digits", "other"}, "a preview tells all else that would come"
    beside = ConfigError("templates/odd.py can't be loaded", why="line 1: SyntaxError", fix="correct it")
    with pytest.raises(ConfigError, match=r"^templates can't be deployed") as told:
        refuse([beside, errors[0]])
    assert "odd.py can't be loaded: line 1" in told.value.why and "template dask-digits fits no pool" in told.value.why
    with pytest.raises(ConfigError, match=r"^the stack and its templates can't be deployed"):
        refuse([PolicyError("quota is too low", why="", fix=""), errors[0]])
    with pytest.raises(ConfigError, match=r"^templates dask-digits and other can't be deployed"):
        refuse([errors[0], refused(cluster(HEAD, pool(type=NEAR[0])), name="other")])


def test_what_names_a_tensorboard_is_offered_on_a_cluster_in_its_own_region_alone() -> None:  # N2 W8
    """The service takes none of another region, and an alternative may be in one."""
    home = cluster()
    far = replace(home, region="europe-west4", alternative=1)
    assert [offer.cluster for offer in prove(template(), StackResources((far,))) if offer.cluster] == [far]
    named = template(tensorboard="7")
    assert [offer.cluster for offer in prove(named, StackResources((home,))) if offer.cluster] == [home]
    assert "region" in refused(far, tensorboard="7").why and "for its TensorBoard" in refused(far, tensorboard="7").why
    (asleep,) = [
        offer for offer in prove(named, StackResources((far,), absent=(home,))) if offer.capacity_type == "pool"
    ]
    assert asleep.dormant.startswith("fits cluster cpu only")


def test_an_alternative_is_for_a_template_of_which_it_fits_any_shape() -> None:  # P2
    large = cluster(pool("main", "n1-standard-16")).pools
    home = replace(cluster(pool("main", "n1-standard-8")), alternatives=(Alternative(large),))
    small, other = ((WorkerPool("main", type_, Disk("pd-ssd", 100)),) for type_ in ("n1-standard-8", "n1-standard-16"))
    shaped = template(worker_pools=small, shapes=(Shape(other),), parameters=(), capacity_types=("pool",))
    plain = template(name="plain", worker_pools=small, parameters=(), capacity_types=("pool",))
    assert {number: [*why] for number, why in misfits((shaped, plain), home).items()} == {1: ["plain"]}


PATH = "projects/acme/zones/us-central1-a/reservations/h100"
H100 = WorkerPool("chief", "a3-highgpu-8g", reservation="h100")
SMALL = WorkerPool("chief", "n1-standard-8", args=("${model}",))
STUDY = Study((Metric("a"),), (Search("rate", "double", 0.1, 1.0),), max_trials=8, parallel_trials=2)


def lora(**changes: Any) -> JobTemplate:
    parts: dict[str, Any] = {
        "name": "lora",
        "worker_pools": (SMALL,),
        "parameters": (Parameter("model", str, default="tiny", choices=("tiny", "27b")),),
        "variants": (Variant({"model": "27b"}, (H100,), ("pool", "flex-start", "reservation")),),
        "capacity_types": ("pool", "spot"),
    }
    return template(**{**parts, **changes})


def labels(offers: tuple[Placement, ...]) -> list[str]:
    return [offer.label for offer in offers]


def test_each_case_has_its_offers_in_its_order() -> None:  # Z1 N3
    big = cluster(pool("h100", "a3-highgpu-8g", accelerator="NVIDIA_H100_80GB", accelerator_count=8), name="big")
    offers = prove(
        lora(), StackResources((cluster(), big), region="us-central1", reservations={"h100": Reservation(PATH)})
    )
    assert labels(offers) == [
        "pool (model=27b)",
        "flex-start (model=27b)",
        "reservation (model=27b)",
        "pool (model=tiny)",
        "spot (model=tiny)",
    ]
    assert [offer.cluster.name for offer in offers if offer.cluster] == ["big", "cpu"]
    assert not any(offer.refusal for offer in offers)


def test_a_case_that_fits_no_pool_leaves_that_capacity_type_and_keeps_the_others() -> None:  # Z1
    """The same template serves a stack with H100 machines and one without."""
    largest, *others = prove(
        lora(), StackResources((cluster(),), region="us-central1", reservations={"h100": Reservation(PATH)})
    )
    assert largest.cluster is None and not any(offer.refusal for offer in others)
    assert largest.refusal == (
        "fits no pool of this stack: worker pool chief needs machine a3-highgpu-8g and accelerator NVIDIA_H100_80GB × "
        "8, nearest pool cpu/workers has n1-standard-8 and none"
    )


@pytest.mark.parametrize(
    ("reservations", "words"),
    [
        ({}, "the stack declares no reservation 'h100'"),
        ({"h100": Reservation(PATH, "a3-highgpu-4g")}, "holds a3-highgpu-4g, the job needs a3-highgpu-8g"),
        ({"h100": Reservation(PATH.replace("central1", "east4"))}, "is in us-east4-a, the job in us-central1"),
    ],
)
def test_a_reservation_that_does_not_serve_leaves_that_capacity_type(
    reservations: dict[str, Reservation], words: str
) -> None:  # Z6
    asked = lora(
        capacity_types=("spot",), variants=(Variant({"model": "27b"}, (H100,), ("flex-start", "reservation")),)
    )
    flex, reserved, _ = prove(asked, StackResources((), region="us-central1", reservations=reservations))
    assert words in reserved.refusal
    assert flex.refusal == ""


@pytest.mark.parametrize(
    ("reservations", "words"),
    [
        ({}, "the stack declares no reservation of a3-highgpu-8g"),
        ({"h100": Reservation(PATH, "a3-highgpu-4g")}, "the stack declares no reservation of a3-highgpu-8g"),
        ({"h100": Reservation(PATH)}, ""),
    ],
)
def test_any_reservation_is_no_choice_where_the_stack_has_none(
    reservations: dict[str, Reservation], words: str
) -> None:  # Z6
    """`script` took it where all other types lacked quota; the service would have looked for machines on demand."""
    anywhere = lora(
        worker_pools=(replace(H100, args=("${model}",), reservation=ANY_RESERVATION),),
        capacity_types=("reservation",),
        variants=(),
    )
    (reserved,) = prove(anywhere, StackResources((), region="us-central1", reservations=reservations))
    assert words in reserved.refusal if words else not reserved.refusal


def test_a_region_without_the_accelerator_leaves_the_offers_that_need_it() -> None:
    offers = prove(
        lora(), StackResources((cluster(),), region="europe-west1", reservations={"h100": Reservation(PATH)})
    )
    assert "europe-west1 has no NVIDIA_H100_80GB" in offers[1].refusal
    assert offers[-1].refusal == ""


def test_a_tuning_job_needs_a_pool_for_all_trials_that_run_at_once() -> None:  # P3 W5
    asked = template(kinds=("custom-job", "hyperparameter-tuning-job"), study=STUDY, capacity_types=("pool",))
    narrow = cluster(pool("head", "n1-standard-4", max=2), pool(max=3))
    custom, tuning = prove(asked, StackResources((narrow,)))
    assert (custom.cluster, custom.label) == (narrow, "pool")
    assert tuning.label == "pool as hyperparameter-tuning-job"
    assert "needs replicas 4" in tuning.refusal and "cpu/workers has max 3" in tuning.refusal
    wide = cluster(pool("head", "n1-standard-4", max=2), pool(max=4))
    assert prove(asked, StackResources((wide,)))[1].pools == (wide.pool("head"), wide.pool("workers"))


def test_a_network_of_the_templates_own_must_be_the_clusters() -> None:  # P2
    network = "projects/1/global/networks/training"
    asked = template(network=network, capacity_types=("pool",))
    with pytest.raises(ConfigError) as error:
        prove(asked, StackResources((cluster(),)))
    assert f"network {network}, " in error.value.why and "pool cpu/head has none" in error.value.why
    assert prove(asked, StackResources((cluster(network=network),)))[0].cluster
    assert prove(replace(asked, network=None), StackResources((cluster(network=network),)))[0].cluster


def test_values_that_do_not_go_together_are_refused_by_every_offer_with_the_templates_reason() -> None:  # Z1 N3
    unfit = Variant({"model": "27b"}, refusal="27b is too large for it")
    pool, spot, *others = prove(lora(variants=(unfit,)), StackResources((cluster(),), region="us-central1"))
    assert [(offer.label, offer.refusal) for offer in (pool, spot)] == [
        ("pool (model=27b)", unfit.refusal),
        ("spot (model=27b)", unfit.refusal),
    ]
    assert labels(tuple(others)) == ["pool (model=tiny)", "spot (model=tiny)"]
    assert not any(offer.refusal for offer in others)


A100S = replace(H100, machine="a2-ultragpu-2g", reservation=None)
L4S = replace(H100, machine="g2-standard-48", reservation=None)


def test_shapes_stand_in_their_order_with_all_types_of_one_before_the_next() -> None:  # N3 N23
    asked = lora(
        shapes=(Shape((replace(SMALL, machine="n1-standard-16"),)),),
        variants=(
            Variant(
                {"model": "27b"}, (H100,), ("pool", "flex-start"), shapes=(Shape((A100S,)), Shape((L4S,), ("spot",)))
            ),
        ),
    )
    big = cluster(pool("a100", "a2-ultragpu-2g", accelerator="NVIDIA_A100_80GB", accelerator_count=2), name="big")
    offers = prove(asked, StackResources((cluster(), big), region="us-central1"))
    assert labels(offers) == [
        "pool on a3-highgpu-8g (model=27b)",
        "flex-start on a3-highgpu-8g (model=27b)",
        "pool on a2-ultragpu-2g (model=27b)",
        "flex-start on a2-ultragpu-2g (model=27b)",
        "spot on g2-standard-48 (model=27b)",
        "pool on n1-standard-8 (model=tiny)",
        "spot on n1-standard-8 (model=tiny)",
        "pool on n1-standard-16 (model=tiny)",
        "spot on n1-standard-16 (model=tiny)",
    ]
    assert [offer.cluster.name for offer in offers if offer.cluster] == ["big", "cpu"]
    assert "needs machine a3-highgpu-8g" in offers[0].refusal, "and is proven as any other"


def test_a_variant_with_machines_of_its_own_has_none_of_the_templates_shapes() -> None:  # N3
    asked = lora(shapes=(Shape((replace(SMALL, machine="n1-standard-16"),)),))
    offers = prove(asked, StackResources((cluster(),), region="us-central1"))
    assert labels(offers)[:3] == ["pool (model=27b)", "flex-start (model=27b)", "reservation (model=27b)"]
    assert {offer.case.shape_name for offer in offers} == {"", "n1-standard-8", "n1-standard-16"}


def test_shapes_name_machines_by_the_keys_of_the_stack() -> None:  # P2 N23
    keyed = lora(
        worker_pools=(replace(SMALL, machine="best"),),
        shapes=(Shape((replace(SMALL, machine="usual"),)),),
        variants=(
            Variant({"model": "27b"}, (H100,), ("flex-start",), shapes=(Shape((replace(SMALL, machine="usual"),)),)),
        ),
    )
    keys = "slipway:machines: {{ best: {}, usual: n1-standard-8 }}"
    stack = read(with_config(keys.format("n1-standard-16")))
    assert [pool.machine for pool in on_stack(keyed, stack).all_pools] == [
        "n1-standard-16",
        "a3-highgpu-8g",
        "n1-standard-8",
        "n1-standard-8",
    ]
    with pytest.raises(ConfigError, match="is not well-formed") as same:
        on_stack(keyed, read(with_config(keys.format("n1-standard-8"))))
    assert "shape 2: the machines of shape 1" in same.value.why
    of_team = """
        slipway:machines: { best: n1-standard-16, usual: n1-standard-8 }
        slipway:teams: { vision: { submitters: ["group:vision@acme.example"], machines: { best: n1-standard-8 } } }
    """
    with pytest.raises(ConfigError, match="on the machines of team vision") as theirs:
        on_stack(keyed, read(with_config(of_team)))
    assert (
        "shape 2: the machines of shape 1" in theirs.value.why and "slipway:teams.vision.machines" in theirs.value.fix
    )


@pytest.mark.parametrize(("machine", "where"), [("n1-standard-8", " outside team vision"), ("n1-highmem-8", "")])
def test_a_team_is_excepted_where_its_own_machines_fit(machine: str, where: str) -> None:  # N23
    keys = f"""
        slipway:machines: {{ usual: n1-standard-16 }}
        slipway:teams: {{ vision: {{ submitters: ["group:vision@acme.example"], machines: {{ usual: {machine} }} }} }}
    """
    stack, keyed = read(with_config(keys)), lora(worker_pools=(replace(SMALL, machine="usual"),), variants=())
    here = StackResources((cluster(),), region="us-central1", teams=stack.teams)
    with pytest.raises(ConfigError, match=f"fits no pool of this stack{where}\n"):
        prove(on_stack(keyed, stack), here)


def test_a_template_names_regions_in_which_its_stack_has_buckets() -> None:  # N23
    elsewhere = template(capacity_types=("spot",), regions=("us-east5", "us-central1"))
    with pytest.raises(ConfigError, match="names us-east5, where stack prod has no bucket for its jobs") as raised:
        on_stack(elsewhere, read(with_config("")))
    assert "slipway:regions: [us-east5]" in str(raised.value.fix)
    assert on_stack(elsewhere, read(with_config("slipway:regions: [us-east5]"))) == elsewhere
