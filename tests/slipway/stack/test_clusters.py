"""A cluster that can't be: its keys, its name, and that it has pools."""

import pytest

from .files import FILE, only, read, with_config


@pytest.mark.parametrize(
    ("key", "what", "fix"),
    [
        ("id: old-cluster", "not there yet", "leave it out"),
        (
            "replacement: in-place",
            "can't be the text 'in-place'",
            "`in-place` (delete first, then create) is not there yet",
        ),
        ("replacement: protect", "can't be the text 'protect'", "is not there yet"),
        ("replacement: rolover", "can't be", "rollover"),
        ("raySpec: {}", "Ray", "inside a job"),
        ("generation: 0", "is 0", "1 or more"),
        ("retireWithin: soon", "not a valid time", "7d"),
        ("deletionPolicy: PREVENT", "forever", "leave it out"),
        ("displayName: ''", "0 characters", "1–128"),
        ("network: projects/acme/global/networks/n", "not a network", "number"),
        (
            "network: projects/1/global/networks/n\n    pscInterface: {networkAttachment: a}",
            "can't be combined with `network`",
            "one of",
        ),
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
