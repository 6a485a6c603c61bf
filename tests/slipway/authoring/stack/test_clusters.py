"""Clusters of a stack file: their pools, and those that somebody else made."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from slipway.authoring.stack.stack import from_config
from slipway.authoring.stack.yaml_file import from_text
from slipway.model.season import Season

from .files import FILE, only, read, with_config, with_pool, wrong

OTHER = "alternatives: [{{pools: {{workers: {{machine: {}, replicas: 1}}}}}}]"


@pytest.mark.parametrize(
    ("key", "what", "fix"),
    [
        ("id: Old_cluster", "'Old_cluster' can't be a cluster's id", "gcloud ai persistent-resources list"),
        ("replacement: inplace", "can't be the text 'inplace'", "rollover or in-place or protect"),
        ("replacement: protect\n    until: 2027-03-01", "would end a cluster that `replacement: protect` keeps", "one"),
        ("replacement: protect\n    idleLimit: 3d", "would end a cluster that `replacement: protect` keeps", "one"),
        ("replacement: rolover", "can't be", "rollover"),
        ("raySpec: {}", "Ray", "inside a job"),
        ("generation: 0", "is 0", "1 or more"),
        ("retireWithin: soon", "not a valid time", "7d"),
        ("from: soon", "neither a date nor a date and a time with its zone: the text 'soon'", "2027-01-10"),
        ("until: 2027-01-10T08:00:00", "with its zone", "+01:00"),
        ("from: 2027-01-10\n    until: 2027-01-10", "is not after `from`", "a later date"),
        ("from: '2027-01-10T08:00+01:00'\n    until: '2027-01-10T07:00Z'", "is not after `from`", "first day without"),
        ("idleLimit: 90", "should be text, is 90", "3d"),
        ("idleLimit: 0h", "is not a valid time", "90m, 4h, 3d"),
        ("createWithin: soon", "is not a valid time: the text 'soon'", "30m, 2h, 1d"),
        ("alternatives: [{}]", "is missing", "add `pools: "),
        ("region: europe-west4", "a cluster is made there first", "put it into `alternatives`"),
        ("alternatives: [{region: europe-west44}]", "not a region with custom training", "`europe-west4`"),
        ("alternatives: [{region: us-central1}]", "is the stack's own region", "leave it out"),
        ("alternatives: [{region: us-east4}, {region: us-east4}]", "the same as an alternative above", "take it out"),
        (
            "alternatives: [{region: us-west2, pools: {workers: {machine: a3-highgpu-8g, replicas: 1}}}]",
            "us-west2 has no NVIDIA_H100_80GB",
            "regions that have it",
        ),
        (
            (
                "encryption: {kmsKey: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k}\n"
                "    alternatives: [{region: us-east4}]"
            ),
            "`encryption.kmsKey` is in us-central1 alone",
            "leave this alternative out",
        ),
        (
            "pscInterface: {networkAttachment: training}\n    alternatives: [{region: us-east4}]",
            "`pscInterface.networkAttachment` is in us-central1 alone",
            "leave this alternative out",
        ),
        (
            "alternatives: [{pools: {worker: {machine: n1-standard-4, replicas: 1}}}]",
            "has no pool 'worker' that this could stand for",
            "did you mean `workers`?",
        ),
        (OTHER.format("n1-standard-8"), "asks for the same as `pools` above", "other machines"),
        (OTHER.format("a3-highgpu-9g"), "unknown machine type", "a3-highgpu-8g"),
        ("schedule: {}", "keys of its own", "`from: 2027-01-10`"),
        ("deletionPolicy: PREVENT", "forever", "leave it out"),
        ("displayName: ''", "0 characters", "1–128"),
        ("network: projects/acme/global/networks/n", "not a network", "number"),
        ("reservedIpRanges: [vertex]", "has no network", "add `network`"),
        ("pscInterface: {dnsPeeringConfigs: []}", "is missing", "add `networkAttachment: training`"),
        ("encryption: {kmsKey: foo}", "not a key", "projects/P/locations/us-central1/keyRings"),
        (
            "encryption: {kmsKey: projects/p/locations/europe-west4/keyRings/r/cryptoKeys/k}",
            "in europe-west4",
            "in us-central1",
        ),
        ("labels: {Team: a}", "label's name", "lowercase"),
        ("labels: {team: A b}", "can't be the text 'A b'", "lowercase"),
        ("labels: {slipway-name: x}", "Slipway or Google sets", "another name"),
        ("labels: {team: 4}", "should be text, is 4", "write text"),
        ("serviceAccount: {custom: 'yes'}", "true or false", "`custom: true`"),
    ],
)
def test_a_cluster_that_cannot_be(key: str, what: str, fix: str) -> None:
    cluster = "slipway:persistentResources:\n  cpu:\n    pools: {workers: {machine: n1-standard-8, replicas: 1}}\n    "
    finding = only(with_config(cluster + key))
    assert finding.file == FILE and finding.line >= 8
    assert finding.key.startswith("slipway:persistentResources.cpu.")
    assert what in finding.what and fix in finding.fix


@pytest.mark.parametrize("adopts", ["", "id: team-a, "])
def test_a_peered_network_and_a_psc_interface_may_be_one_cluster_s(adopts: str) -> None:
    """Google's acceptance test of its own Terraform resource makes such a cluster (magic-modules 18273)."""
    pools = "pools: {workers: {machine: n1-standard-8, replicas: 1}}"
    key = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
    network = "network: projects/1/global/networks/n, reservedIpRanges: [vertex], pscInterface: {networkAttachment: a}"
    entry = f"{{{adopts}{pools}, {network}, encryption: {{kmsKey: {key}}}}}"
    (cluster,) = read(with_config(f"slipway:persistentResources:\n  cpu: {entry}")).clusters
    assert cluster.network and cluster.psc and cluster.reserved_ip_ranges and cluster.kms_key


@pytest.mark.parametrize("name", ["Cpu", "c_pu", "1cpu", "cpu-", "a" * 53])
def test_a_name_that_would_not_make_an_id(name: str) -> None:  # P1
    text = f"slipway:persistentResources:\n  {name}: {{pools: {{workers: {{machine: n1-standard-8, replicas: 1}}}}}}"
    finding = only(with_config(text))
    assert "can't be a cluster's name" in finding.what and "52" in finding.fix and finding.line == 6
    assert read(with_config(text.replace(name, "a" * 52, 1))).clusters


def test_a_cluster_without_pools() -> None:
    assert "no pool" in only(with_config("slipway:persistentResources: {cpu: {pools: {}}}")).what
    assert only(with_config("slipway:persistentResources: {cpu: {}}")).what == "is missing"
    assert "is empty" in only(with_config("slipway:persistentResources: {cpu: }")).what


@pytest.mark.parametrize(
    ("written", "handed_on", "meant"),
    [
        ("2027-01-10", "2027-01-10 00:00:00 +0000 UTC", datetime(2027, 1, 10, tzinfo=UTC)),
        ("'2027-01-10'", "2027-01-10", datetime(2027, 1, 10, tzinfo=UTC)),
        ("2027-01-10T08:30:00Z", "2027-01-10 08:30:00 +0000 UTC", datetime(2027, 1, 10, 8, 30, tzinfo=UTC)),
        ("2027-01-10T08:30:00+01:00", "2027-01-10 08:30:00 +0100 +0100", datetime(2027, 1, 10, 7, 30, tzinfo=UTC)),
        ("2027-01-10 08:30:00", "2027-01-10 08:30:00 +0000 UTC", datetime(2027, 1, 10, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_date_means_the_same_with_quotes_and_without_and_from_the_engine(
    written: str, handed_on: str, meant: datetime
) -> None:  # B6
    """A date without quotes is a timestamp in YAML, and the engine hands it on as Go prints it."""
    pools = "pools: {workers: {machine: n1-standard-8, replicas: 1}}"
    text = with_config(f"slipway:persistentResources:\n  cpu: {{{pools}, from: {written}, idleLimit: 90m}}")
    expected = Season(meant, None, timedelta(minutes=90))
    assert read(text).clusters[0].season == expected
    document = from_text(text, FILE)
    values = document.values["config"]["slipway:persistentResources"]
    assert values["cpu"]["from"] == handed_on
    assert (
        from_config({"slipway:persistentResources": values}, stack="prod", file=document).clusters[0].season == expected
    )


def test_alternatives_are_whole_sets_of_pools_in_their_order() -> None:  # N2
    (cluster,) = read(
        with_config(
            """
            slipway:persistentResources:
              cpu:
                pools:
                  head: {machine: n1-standard-4, replicas: 1}
                  workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}
                createWithin: 2h
                alternatives:
                  - pools: {workers: {machine: n1-highmem-8, replicas: 2}}
                  - pools: {head: {machine: n1-standard-8, replicas: 1}}
            """
        )
    ).clusters
    assert cluster.create_within == timedelta(hours=2)
    first, *others = cluster.options
    assert first is cluster and [one.alternative for one in others] == [1, 2]
    assert [[str(pool.machine) for pool in one.pools] for one in others] == [
        ["n1-standard-4", "n1-highmem-8"],
        ["n1-standard-8", "n1-standard-8"],
    ]
    assert not any(one.alternatives for one in others)


POOL = "slipway:persistentResources.cpu.pools.workers"
N1 = "machine: n1-standard-8\n"
GOOD = N1 + "replicas: {min: 1, max: 4}\n"
GPU, DISK = GOOD + "accelerator: ", GOOD + "disk: "
A2 = "machine: a2-highgpu-1g\nreplicas: 1\n"


@pytest.mark.parametrize(
    ("pool", "line", "key", "what", "fix"),
    [
        # unknown key, missing key, duplicate key
        (GOOD + "disc: {}", 11, "disc", "unknown key", "did you mean `disk`?"),
        (GOOD + "zzzz: {}", 11, "zzzz", "unknown key", "one of machine, accelerator, disk, replicas"),
        ("machine: n1-standard-8", 8, "replicas", "is missing", "add `replicas: {min: 1, max: 4}`"),
        ("replicas: 1", 8, "machine", "is missing", "add `machine: n1-standard-8`"),
        (GOOD + "machine: n1-standard-4", 11, "machine", "twice, on lines 9 and 11", "keep one"),
        # sizes
        (N1 + "replicas: {min: 0, max: 4}", 10, "replicas.min", "shrink to 0", "1 or more"),
        (N1 + "replicas: {min: 4, max: 4}", 10, "replicas.max", "not more than min 4", "max: 5"),
        (
            N1 + "replicas: {min: 1000000, max: 1000000}",
            10,
            "replicas.max",
            "not more than min 1000000",
            "`replicas: 1000000` for a fixed pool",
        ),
        (N1 + "replicas: {min: 4, max: 2}", 10, "replicas.max", "not more", "`replicas: 4`"),
        (N1 + "replicas: {min: 1}", 10, "replicas.max", "is missing", "add `max: 4`"),
        (N1 + "replicas: 0", 10, "replicas", "can't have 0 machines", "remove the pool"),
        (N1 + "replicas: -1", 10, "replicas", "can't have -1", "1 or more"),
        (N1 + "replicas: three", 10, "replicas", "whole number, or {min, max}", "replicas: {"),
        (N1 + "replicas: '3'", 10, "replicas", "is the text '3'", "replicas: {"),
        (N1 + "replicas: 1.5", 10, "replicas", "whole number, or {min, max}, is 1.5", "{min: 1"),
        (N1 + "replicas: true", 10, "replicas", "is true", "{min: 1"),
        (N1 + "replicas:", 10, "replicas", "is empty", "{min: 1"),
        (N1 + "replicas: {min: 1, max: 4, initial: 5}", 10, "replicas.initial", "5 is not", "1 to 4"),
        (N1 + "replicas: {min: 1, max: 4, intial: 2}", 10, "replicas.intial", "unknown", "initial"),
        (N1 + "replcas: 2", 10, "replcas", "unknown key", "did you mean `replicas`?"),
        # machines and accelerators
        ("machine: n1-standrd-8\nreplicas: 1", 9, "machine", "unknown machine", "did you mean `n1-standard-8`?"),
        ("machine: ct6e-standard-4t\nreplicas: 1", 9, "machine", "TPU", "VM or GPU"),
        ("machine: 8\nreplicas: 1", 9, "machine", "should be text, is 8", "`machine: n1-standard-8`"),
        (GPU + "{type: NVIDIA_T4, count: 1}", 11, "accelerator.type", "unknown accelerator", "did you mean"),
        (GPU + "{type: NVIDIA_H100_80GB, count: 8}", 11, "accelerator.type", "can't have", "a3-highgpu-8g"),
        (GPU + "{type: NVIDIA_TESLA_T4, count: 3}", 11, "accelerator.count", "can't have 3", "1, 2, 4"),
        (GPU + "{type: NVIDIA_TESLA_T4}", 11, "accelerator.count", "is missing", "add `count: 1`"),
        (GPU + "{count: 1}", 11, "accelerator.type", "is missing", "add `type: NVIDIA_TESLA_T4`"),
        (
            A2 + "accelerator: {type: NVIDIA_TESLA_T4, count: 1}",
            11,
            "accelerator.type",
            "a2-highgpu-1g can't have NVIDIA_TESLA_T4",
            "NVIDIA_TESLA_A100 × 1 built in",
        ),
        (
            A2 + "accelerator: {type: NVIDIA_TESLA_A100, count: 2}",
            11,
            "accelerator.count",
            "can't have 2",
            "leave the accelerator out",
        ),
        # disks
        (DISK + "{sizeGb: 50}", 11, "disk.sizeGb", "can't have 50 GB", "100 to 64,000"),
        (DISK + "{sizeGb: 64001}", 11, "disk.sizeGb", "64,001", "100 to 64,000"),
        (DISK + "{type: ssd}", 11, "disk.type", "unknown disk type", "did you mean `pd-ssd`?"),
        (
            DISK + "{type: floppy}",
            11,
            "disk.type",
            "unknown disk type 'floppy'",
            "pd-ssd, pd-standard, hyperdisk-balanced",
        ),
        (DISK + "{type: hyperdisk-balanced}", 11, "disk.type", "can't have hyperdisk", "pd-ssd or pd-standard"),
        (
            "machine: n4-standard-8\nreplicas: 1\ndisk: {type: pd-ssd}",
            11,
            "disk.type",
            "can't have pd-ssd",
            "hyperdisk",
        ),
        (DISK + "{sizeGB: 200}", 11, "disk.sizeGB", "unknown key", "did you mean `sizeGb`?"),
        # not there yet, by name
        (GOOD + "id: old", 11, "id", "only a cluster is adopted", "beside `pools`"),
        (GOOD + "strategy: FLEX_START", 11, "strategy", "no strategy", "job templates"),
        (GOOD + "spot: true", 11, "spot", "can't be of capacity type spot", "job templates"),
        (GOOD + "reservationAffinity: {}", 11, "reservationAffinity", "can't be combined", "leave it out"),
    ],
)
def test_a_pool_that_cannot_be(pool: str, line: int, key: str, what: str, fix: str) -> None:
    finding = only(with_pool(pool))
    assert (finding.file, finding.line, finding.key) == (FILE, line, f"{POOL}.{key}")
    assert what in finding.what and fix in finding.fix


@pytest.mark.parametrize("name", ["Workers", "w_1", "a" * 64])
def test_a_name_that_no_pool_can_have(name: str) -> None:
    text = f"slipway:persistentResources:\n  cpu: {{pools: {{{name}: {{machine: n1-standard-8, replicas: 1}}}}}}"
    assert "can't be a pool's name" in only(with_config(text)).what


def test_a_region_without_that_accelerator() -> None:
    text = with_pool("machine: a3-highgpu-8g\nreplicas: 1").replace("us-central1", "europe-west2")
    finding = only(text)
    assert finding.key == f"{POOL}.machine" and "europe-west2 has no NVIDIA_H100_80GB" in finding.what
    assert "us-central1" in finding.fix and "europe-west2" not in finding.fix
    attached = with_pool(GPU + "{type: NVIDIA_TESLA_V100, count: 1}").replace("us-central1", "us-east4")
    assert only(attached).key == f"{POOL}.accelerator.type"


ENTRY = """
slipway:persistentResources:
  research:
    id: team-a
    pools:
      workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}
"""


def test_an_entry_with_an_id_adopts_and_knows_the_lines_of_its_keys() -> None:
    adoption = read(with_config(ENTRY)).clusters[0].adopted
    assert adoption is not None and adoption.id == "team-a"
    assert adoption.line("id") == f"{FILE}:7"
    assert adoption.line("pools.workers.machine") == f"{FILE}:9"
    assert adoption.line("network") == f"{FILE}:6", "where it would stand"


def test_the_lines_are_known_where_the_engine_gives_the_configuration() -> None:
    file = from_text(with_config(ENTRY), FILE)
    given = {"slipway:persistentResources": json.dumps(file.values["config"]["slipway:persistentResources"])}
    (spec,) = from_config(given, stack="prod", file=file).clusters
    assert spec.adopted is not None and spec.adopted.line("pools.workers.replicas") == f"{FILE}:9"


@pytest.mark.parametrize(
    "key",
    [
        "displayName: research",
        "labels: {team: a}",
        "replacement: rollover",
        "generation: 2",
        "retireWithin: 7d",
        "createWithin: 2h",
        "alternatives: [{pools: {workers: {machine: n1-standard-4, replicas: 1}}}]",
        "from: 2027-01-10",
        "until: 2027-03-01",
        "idleLimit: 3d",
    ],
)
def test_keys_of_the_making_are_refused_beside_an_id(key: str) -> None:
    finding = only(with_config(f"{ENTRY}    {key}\n"))
    assert finding.key.endswith(f"research.{key.partition(':')[0]}") and finding.line == 10
    assert "adopted by its `id`" in finding.what and "leave it out" in finding.fix


def test_how_many_machines_a_pool_begins_with_is_of_the_making_too() -> None:
    finding = only(with_config(ENTRY.replace("max: 4", "max: 4, initial: 2")))
    assert finding.key.endswith("workers.replicas.initial")


def test_an_id_that_is_empty_makes_no_cluster() -> None:
    finding = only(with_config(ENTRY.replace("id: team-a", "id:")))
    assert finding.key.endswith("research.id") and finding.what == "is empty"


def test_one_cluster_is_adopted_once() -> None:
    other = ENTRY.partition("research:")[2]
    (finding,) = wrong(with_config(f"{ENTRY}  again:{other}"))
    assert (finding.key, finding.line) == ("slipway:persistentResources.again.id", 11)
    assert finding.what.startswith("team-a is adopted as research")
