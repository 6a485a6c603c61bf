"""Clusters of a stack file: their pools, and those that somebody else made."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from slipway.authoring.stack.stack import from_config, parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.model.season import Season

from .files import FILE, read, with_config


def test_a_peered_network_and_a_psc_interface_may_be_one_cluster_s() -> None:
    """Google's acceptance test of its own Terraform resource makes such a cluster (magic-modules 18273)."""
    pools = "pools: {workers: {machine: n1-standard-8, replicas: 1}}"
    network = "network: projects/1/global/networks/n, reservedIpRanges: [vertex], pscInterface: {networkAttachment: a}"
    (cluster,) = read(with_config(f"slipway:persistentResources:\n  cpu: {{id: team-a, {pools}, {network}}}")).clusters
    assert cluster.network and cluster.psc and cluster.reserved_ip_ranges


def test_the_longest_names_of_a_cluster_and_a_pool() -> None:  # P1
    cluster, pool = "a" * 52, "b" * 63
    text = f"slipway:persistentResources: {{{cluster}: {{pools: {{{pool}: {{machine: n1-standard-8, replicas: 1}}}}}}}}"
    assert read(with_config(text)).clusters[0].pools[0].name == pool


@pytest.mark.parametrize(
    ("written", "handed_on"),
    [
        ("2027-01-10", "2027-01-10 00:00:00 +0000 UTC"),
        ("'2027-01-10'", "2027-01-10"),
        ("2027-01-10T01:00:00+01:00", "2027-01-10 01:00:00 +0100 +0100"),
        ("2027-01-10 00:00:00", "2027-01-10 00:00:00 +0000 UTC"),
    ],
)
def test_a_date_means_the_same_with_quotes_and_without_and_from_the_engine(written: str, handed_on: str) -> None:  # B6
    """A date without quotes is a timestamp in YAML, and the engine hands it on as Go prints it."""
    pools = "pools: {workers: {machine: n1-standard-8, replicas: 1}}"
    file = from_text(with_config(f"slipway:persistentResources:\n  cpu: {{{pools}, from: {written}}}"), FILE)
    values = file.values["config"]["slipway:persistentResources"]
    assert values["cpu"]["from"] == handed_on
    from_engine = from_config({"slipway:persistentResources": values}, stack="prod", file=file)
    for stack in (parse(file), from_engine):
        assert stack.clusters[0].season == Season(datetime(2027, 1, 10, tzinfo=UTC))


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
    assert first is cluster and [other.alternative for other in others] == [1, 2]
    assert [[str(pool.machine) for pool in other.pools] for other in others] == [
        ["n1-standard-4", "n1-highmem-8"],
        ["n1-standard-8", "n1-standard-8"],
    ]
    assert not any(other.alternatives for other in others)


ENTRY = """
slipway:persistentResources:
  research:
    id: team-a
    pools:
      workers: {machine: n1-standard-8, replicas: {min: 1, max: 4}}
"""


def test_an_entry_with_an_id_adopts_and_knows_the_lines_of_its_keys_from_the_engine_too() -> None:
    file = from_text(with_config(ENTRY), FILE)
    given = {"slipway:persistentResources": json.dumps(file.values["config"]["slipway:persistentResources"])}
    for stack in (read(with_config(ENTRY)), from_config(given, stack="prod", file=file)):
        adoption = stack.clusters[0].adopted
        assert adoption is not None and adoption.id == "team-a"
        assert adoption.line("pools.workers.machine") == f"{FILE}:9"
        assert adoption.line("network") == f"{FILE}:6", "where it would stand"
