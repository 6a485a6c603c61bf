"""Entries that adopt a cluster by its id: read, and refused where they say how to make one. # N13"""

import json

import pytest

from slipway.stack.stack import from_config
from slipway.stack.yaml_file import from_text

from .files import FILE, only, read, with_config, wrong

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
