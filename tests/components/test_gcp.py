"""A resource's class without the rest of its service is the same class. (D9) A process, as imports are for once."""

import json
import subprocess
import sys
from typing import Any

PROGRAM = """
import json, sys
from components import gcp as alone

classes = {
    "vertex": ["AiPersistentResource", "AiPersistentResourceEncryptionSpecArgs"],
    "storage": ["Bucket", "BucketIAMMember", "BucketVersioningArgs"], "projects": ["IAMMember"],
    "serviceaccount": ["Account", "IAMMember"], "cloudquota": ["SQuotaPreference"],
}
asked = [getattr(getattr(alone, service), name) for service, names in classes.items() for name in names]
imported = sorted(name.removeprefix("pulumi_gcp.") for name in sys.modules if name.startswith("pulumi_gcp."))

import pulumi_gcp as whole
same = [getattr(getattr(whole, service), name) for service, names in classes.items() for name in names]
assert asked == same, (asked, same)
try:
    alone.storage.Buckets
except ImportError as problem:
    print(json.dumps([imported, str(problem)]))
"""


def run() -> Any:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_class_is_imported_alone_and_is_that_of_its_package() -> None:
    imported, problem = run()
    modules = {name for name in imported if not name.endswith(("_utilities", "_inputs", "outputs"))}
    assert modules == {
        "cloudquota.s_quota_preference",
        "projects.iam_member",
        "serviceaccount.account",
        "serviceaccount.iam_member",
        "storage.bucket",
        "storage.bucket_iam_member",
        "vertex.ai_persistent_resource",
    }
    assert "buckets" in problem
