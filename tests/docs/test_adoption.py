"""docs/adoption.md: its entry adopts, and what it shows is what a deployment says. # N13"""

from __future__ import annotations

import re
from pathlib import Path

from components.run import Outputs
from slipway.authoring.stack.cluster_checks import OF_THE_MAKING
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.deploying.deployment.summary import kept_settings
from slipway.deploying.generations.adoption import obstacles
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.snapshot import lacks
from slipway.model.machines.spec import Disk, MachineSpec

PAGE = (Path(__file__).parents[2] / "docs" / "adoption.md").read_text("utf-8")
(YAML, BUCKETS), (SAID, TOLD) = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("yaml", "text"))
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))


def test_the_entry_is_held_against_the_cluster_as_the_page_shows() -> None:
    (spec,) = parse(from_text(YAML, "stacks/Pulumi.prod.yaml")).clusters
    assert spec.adopted is not None
    lives = PersistentResource(spec.adopted.id, "RUNNING", {}, (ResourcePool("workers", H100, 1, 0, 1, 8),))
    found = obstacles(spec, spec.adopted, {lives.id: lives}, (), stack="prod", place="us-central1")
    assert list(found) == SAID.splitlines()


def test_a_bucket_that_is_there_is_told_of_as_the_page_shows() -> None:
    name = parse(from_text(BUCKETS, "stacks/Pulumi.prod.yaml")).workspace.catalog_bucket
    access = {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "inherited"}
    (said,) = kept_settings([name], {name: lacks({"iamConfiguration": access}, catalog=True)})
    assert said.splitlines() == TOLD.splitlines()


def test_the_keys_that_are_refused_are_those_of_the_page() -> None:
    assert all(f"`{key}`" in PAGE for key in OF_THE_MAKING)


def test_what_other_programs_read_is_exported() -> None:
    (named,) = re.findall(r"`up` exports (.*?)\.", PAGE)
    assert set(re.findall(r"`(\w+)`", named)) == set(Outputs.__annotations__)
    assert all(one in Outputs.__annotations__ for one in re.findall(r'require_output\("(\w+)"\)', PAGE))
