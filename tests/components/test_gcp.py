"""Resources past their package's `__init__` are those that it has, and bring no other."""

import subprocess
import sys
from pathlib import Path

import pulumi_gcp

from components.gcp import resources, storage, vertex

ROOT = Path(__file__).parents[2]
LOADED = "import components.deployment, sys; print(*(name for name in sys.modules if name.startswith('pulumi_gcp.')))"


def test_they_are_the_package_s_own() -> None:
    assert vertex.AiPersistentResource is pulumi_gcp.vertex.AiPersistentResource
    assert vertex.AiPersistentResourceResourcePoolArgs is pulumi_gcp.vertex.AiPersistentResourceResourcePoolArgs
    for name in ("Bucket", "BucketIAMMember", "BucketObject", "BucketLifecycleRuleArgs"):
        assert getattr(storage, name) is getattr(pulumi_gcp.storage, name)


def test_a_program_imports_no_resource_that_it_does_not_declare() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=ROOT, capture_output=True, text=True, check=True)
    brought = {name for name in done.stdout.split() if name.startswith(("pulumi_gcp.storage.", "pulumi_gcp.vertex."))}
    assert {name for name in brought if not name.endswith(("._inputs", ".outputs", "._enums"))} == {
        "pulumi_gcp.storage.bucket",
        "pulumi_gcp.storage.bucket_iam_member",
        "pulumi_gcp.storage.bucket_object",
        "pulumi_gcp.vertex.ai_persistent_resource",
    }


def test_of_another_layout_the_whole_package_is_taken() -> None:
    whole = resources("pubsub", "of_another_release")
    assert whole is pulumi_gcp.pubsub
    assert whole.Topic is not None
