"""Organisations of the bench: policies that the local cloud has, and files that say what these ask for. # N2 # N4"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from vertex_local import constraints
from vertex_local.settings import Settings

from bench.faults import organisation
from bench.faults.journeys import ELSEWHERE, FIRST, JOURNEYS, RACED
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.model.identity import Identity
from tests.checkouts.checkout import PROJECT, REGION, Checkout


@dataclass(frozen=True)
class OfStack:
    """As much of a checkout as a file needs."""

    file: Path
    stack: str = "trial"


def restricted(tmp_path: Path, name: str, file: Mapping[str, Any]) -> Any:
    """Return a stack whose file an organisation restricts, as `slipway check` reads it."""
    config = {"gcp:project": PROJECT, "gcp:region": REGION, "gcp:addPulumiAttributionLabel": "false"}
    workspace = {"submitters": ["group:ml@company.example"]}
    keys = {f"slipway:{key}": value for key, value in {"workspace": workspace, **file}.items()}
    of_stack = OfStack(tmp_path / "Pulumi.trial.yaml")
    of_stack.file.write_text(yaml.safe_dump({"config": {**config, **keys}}))
    organisation.named(name).restrict(cast(Checkout, of_stack))
    return parse(from_text(of_stack.file.read_text(), "stacks/Pulumi.trial.yaml"))


@pytest.mark.parametrize("name", organisation.NAMES)
def test_every_policy_is_one_of_the_local_clouds(name: str) -> None:
    for key, text in organisation.named(name).settings.items():
        group, _, constraint = key.partition(".")
        assert constraints.parsed(constraint, text) if group == "policy" else hasattr(Settings(), key)


def test_all_has_every_policy_and_no_name_has_none() -> None:
    assert not organisation.named("").settings
    everything = organisation.named(organisation.ALL)
    assert all(organisation.named(name).settings.items() <= everything.settings.items() for name in organisation.NAMES)
    assert everything.keys and everything.named_trainer


def test_a_file_has_a_key_and_a_trainer_where_they_are_asked_for(tmp_path: Path) -> None:
    stack = restricted(tmp_path, "all", FIRST)
    assert stack.workspace.kms_key and stack.workspace.trainer == organisation.trainer("trial")
    assert [cluster.kms_key for cluster in stack.clusters] == [stack.workspace.kms_key]
    plain = restricted(tmp_path, "locations", FIRST)
    assert not plain.workspace.kms_key and plain.workspace.trainer == Identity("", "trial").account("trainer")


def test_what_a_key_forbids_is_not_played() -> None:
    left = {one.name for one in JOURNEYS if not organisation.named("keys").can_play(one.file or {})}
    assert left == {one.name for one in JOURNEYS if one.file in (ELSEWHERE, RACED)}
    assert all(organisation.named("members").can_play(one.file or {}) for one in JOURNEYS)
