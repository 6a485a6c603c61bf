"""The table of changed settings: one row each, in values of people, and nothing that nobody declared."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from slipway.answers.settings import HIDDEN, settings
from slipway.model.catalog.model import SessionLimits, Team
from slipway.model.catalog.template import Parameter
from slipway.model.facts import Facts
from slipway.model.season import Season
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    change,
    cluster,
    facts,
    kept,
    offer,
    pool,
    request,
    step,
    template,
    worker_pool,
)


def lines(before: Facts, after: Facts) -> list[str]:
    rows = settings(change(before, after).comparison)
    return [f"{row.subject} {row.key}: {row.before} → {row.after}" for row in rows]


def test_a_cluster_and_a_template_that_is_added_or_removed_is_one_row() -> None:
    old = facts(cluster("cpu", pool("workers", CPU, 0, 4)), template("lora"))
    new = facts(cluster("h100", pool("workers", H100, 1, 4)), template("tagger"))
    assert lines(old, new) == [
        "cluster cpu entry: workers: 0–4 n1-standard-8 → ",
        "template lora entry: custom-job: pool → ",
        "cluster h100 entry:  → workers: 1–4 a3-highgpu-8g",
        "template tagger entry:  → custom-job: pool",
    ]


def test_values_are_those_of_people_and_defaults_are_shown() -> None:
    old = cluster("h100", pool("workers", H100, 1, 4))
    new = replace(
        old,
        id="h100-other",
        pools=(pool("workers", H100, 1, 6),),
        replacement="protect",
        season=Season(idle_limit=timedelta(hours=3)),
        create_within=timedelta(hours=1),
    )
    assert lines(facts(old), facts(new)) == [
        "cluster h100 pools.workers.replicas.max: 4 → 6",
        "cluster h100 replacement: rollover → protect",
        "cluster h100 idleLimit:  → 3 h",
        "cluster h100 createWithin: 15 min → 1 h",
    ]


def test_computed_values_have_no_rows() -> None:
    old = facts(template("lora", offer(request=request(persistentResourceId="cpu-1"))), commit="1")
    new = facts(
        template("lora", offer(request=request(persistentResourceId="cpu-2"), available=False, why="full")),
        kept(cluster("old")),
        commit="2",
    )
    assert lines(old, new) == []


def test_an_empty_object_and_a_switch_are_settings() -> None:
    old = facts()
    new = facts(sessions=SessionLimits(), teams={"vision": Team()}, board=True)
    assert lines(old, new) == [
        "stack prod slipway:workspace.board: false → true",
        "stack prod slipway:sessions:  → {}",
        "team vision entry:  → {submitters: [], clusters: []}",
    ]


def test_an_equal_change_of_all_offers_is_one_row_and_of_some_names_them() -> None:
    def lora(spot: str, pool_: str, machine: Any = CPU) -> Facts:
        scheduling = {"timeout": spot}
        offers = (
            offer("spot", request=request(worker_pool(machine), scheduling=scheduling)),
            offer(request=request(worker_pool(machine), scheduling={"timeout": pool_})),
        )
        return facts(template("lora", *offers))

    assert lines(lora("3600s", "3600s"), lora("7200s", "7200s")) == ["template lora timeout: 1 h → 2 h"]
    assert lines(lora("3600s", "3600s"), lora("7200s", "3600s")) == ["template lora timeout for spot: 1 h → 2 h"]
    changed = lines(lora("3600s", "3600s"), lora("3600s", "3600s", H100))
    assert "template lora worker.accelerator:  → H100" in changed


def test_a_long_list_is_shown_by_its_difference() -> None:
    members = [f"user:{name}@acme.example" for name in "abcdef"]
    assert lines(facts(members=members), facts(members=[*members[1:], "user:z@acme.example"])) == [
        "stack prod slipway:workspace.submitters: user:a@acme.example → user:z@acme.example"
    ]


def test_a_secret_is_hidden_by_any_part_of_its_key() -> None:
    old = facts(template("lora", parameters=(Parameter("password", "str", "abc1"),)))
    new = facts(template("lora", parameters=(Parameter("password", "str", "xyz2"),)))
    assert lines(old, new) == [f"template lora parameters.password.default: {HIDDEN} → {HIDDEN}"]


def test_the_parts_of_an_unread_template_are_unknown() -> None:
    assert lines(facts(template("lora")), facts(template("lora", unread="offers"))) == []


def test_changed_inputs_of_other_resources_are_settings() -> None:
    old = {"name": "acme-data", "versioning": {"enabled": True}}
    new = {"name": "acme-data", "versioning": {"enabled": False}}
    steps = [step("update", "gcp:storage/bucket:Bucket", "data", old=old, new=new)]
    rows = settings(change(facts(), facts(), steps=steps).comparison)
    assert [(row.subject, row.key, row.before, row.after) for row in rows] == [
        ("bucket acme-data", "versioning.enabled", "true", "false")
    ]
