"""A cluster that can't be: its keys, its name, and that it has pools."""

from datetime import UTC, datetime, timedelta

import pytest

from slipway.season import Season
from slipway.stack.stack import from_config
from slipway.stack.yaml_file import from_text

from .files import FILE, only, read, with_config


@pytest.mark.parametrize(
    ("key", "what", "fix"),
    [
        ("id: Old_cluster", "'Old_cluster' can't be a cluster's id", "gcloud ai persistent-resources list"),
        (
            "replacement: inplace",
            "can't be the text 'inplace'",
            "rollover or in-place or protect",
        ),
        (
            "replacement: protect\n    until: 2027-03-01",
            "would end a cluster that `replacement: protect` keeps",
            "one",
        ),
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
        (
            "alternatives: [{pools: {workers: {machine: n1-standard-8, replicas: 1}}}]",
            "asks for the same as `pools` above",
            "other machines",
        ),
        (
            "alternatives: [{pools: {workers: {machine: a3-highgpu-9g, replicas: 1}}}]",
            "unknown machine type",
            "a3-highgpu-8g",
        ),
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
