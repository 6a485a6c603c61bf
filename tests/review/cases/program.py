"""The program itself, the files that deploy it, and previews that fail, are cut, or contain unknown parts."""

from slipway.deploying.engine.events import read
from slipway.deploying.engine.preview import Preview
from tests.review.case import BUSY, Case, Edit, hurts, stack, stops, tells, template
from tests.review.engine import BUCKET, PROJECT, TRAINER, WORK, deletes, does, edits, edits_work, replaces
from tests.slipway.reviewing.builders import step
from tests.slipway.reviewing.recordings import lines

NETWORK = "gcp:compute/network:Network"
PEERED = "projects/123/global/networks/train"

UP = ".github/workflows/up.yaml"
WORKFLOW = """jobs:
  prod:
    runs-on: ubuntu-24.04
    environment: prod
    steps:
      - run: make select STACK=prod
      - run: python -m slipway review --stack prod --merged
      - run: pulumi up --yes --stack prod
"""

CASES = (
    Case(
        "A component that makes buckets is edited, and its bucket is made anew",
        names=(
            stops("program-edited", "program", "components/workspace.py"),
            stops("bucket-replaced", "acme-work", "location"),
        ),
        may=("jobs-lose-bucket",),
        files=("components/workspace.py",),
        steps=replaces(BUCKET, "work", WORK, "acme-work", location="EU"),
        world=BUSY,
        accident="a refactoring that replaced a bucket",
    ),
    Case(
        "A component is edited, and nothing in the cloud changes",
        names=(stops("program-edited", "program", "components/catalog.py"),),
        files=("components/catalog.py",),
        steps=does(),
    ),
    Case(
        "The guard that asks for unfinished jobs is deleted",
        (Edit("components/guard.py"),),
        (stops("program-edited", "program", "components/guard.py"),),
        world=BUSY,
        accident="a safety check removed as dead code",
    ),
    Case(
        "The guard is not registered any more, with one line less in the program",
        names=(stops("guard-removed", "guard", "unfinished jobs"), stops("program-edited", "program", "__main__.py")),
        files=("__main__.py",),
        preview=Preview(hooks=frozenset({"slipway-create-v1"})),
        accident="a hook that nobody called any more",
    ),
    Case(
        "What judges changes like this one is edited",
        names=(stops("program-edited", "program", "slipway/reviewing/people.py"),),
        files=("slipway/reviewing/people.py",),
        accident="a check rewritten by what it checks",
    ),
    Case(
        "A workflow deploys without asking",
        names=(stops("program-edited", "program", ".github/workflows/up.yaml"),),
        files=(".github/workflows/up.yaml",),
        accident="an approval removed from a workflow",
    ),
    Case(
        "A workflow loses its environment and its review, as the pull request had one",
        (
            Edit(UP, "      - run: python -m slipway review --stack prod --merged\n", ""),
            Edit(UP, "    environment: prod\n", ""),
        ),
        (stops("program-edited", "program", "`environment:`", "`slipway review`", "up.yaml:4", "environment: prod"),),
        given=(Edit(UP, "", WORKFLOW),),
        accident="an approval removed from a workflow",
    ),
    Case(
        "Who has to agree is edited",
        names=(stops("program-edited", "program", "CODEOWNERS"),),
        files=(".github/CODEOWNERS",),
    ),
    Case(
        "Packages of the program itself are others",
        names=(stops("program-edited", "program", "requirements.txt"),),
        files=("requirements.txt",),
        accident="a poisoned package in a deployment",
    ),
    Case(
        "The stack moves to another region",
        (stack("gcp:region: us-central1", "gcp:region: us-east4"),),
        (stops("preview-failed", "", "us-central1", "us-east4"),),
        world=BUSY,
        accident="a region moved, and everything in it deleted",
    ),
    Case(
        "The stack moves to another project",
        (stack("gcp:project: acme-ml\n", "gcp:project: acme-ml-two\n"),),
        (stops("preview-failed", ""),),
        world=BUSY,
        accident="a stack pointed at another project",
    ),
    Case(
        "A typing error in the stack file",
        (stack("retireWithin: 2w", "retireWithin: 2 weeks"),),
        (stops("preview-failed", "", "retireWithin"),),
        world=BUSY,
    ),
    Case(
        "A template that can't be read",
        (template("tune", "timeout_s=3600", "timeout_s=-1"),),
        (stops("preview-failed", "", "tune"),),
    ),
    Case(
        "A component declares a service that has no API here: the preview fails as the deployment would",
        names=(stops("preview-failed", ""),),
        may=("account-created", "public-access"),
        preview=read(lines("refused")),
    ),
    Case(
        "The network that clusters are peered with is deleted",
        names=(stops("resource-deleted", "train"),),
        steps=deletes(NETWORK, "train", {"name": "train", "autoCreateSubnetworks": False}, PEERED),
        accident="a network deleted under what used it",
    ),
    Case(
        "A firewall lets everybody in",
        names=(stops("public-access", "ssh"),),
        steps=does(
            edits(
                "gcp:compute/firewall:Firewall",
                "ssh",
                {"network": "train", "sourceRanges": ["10.0.0.0/8"], "allows": [{"protocol": "tcp", "ports": ["22"]}]},
                sourceRanges=["0.0.0.0/0"],
            )
        ),
        accident="a firewall open to the world",
    ),
    Case(
        "An instance of a kind that nobody here knows is made anew",
        names=(stops("resource-replaced", "probe", "zone"),),
        steps=replaces("acme:lab/instrument:Instrument", "probe", {"zone": "a", "size": 4}, "lab/probe", zone="b"),
        accident="a provider's new version that replaced everything",
    ),
    Case(
        "A shared file system is made smaller, which makes it anew",
        names=(stops("resource-replaced", "scratch"),),
        steps=replaces(
            "gcp:filestore/instance:Instance", "scratch", {"name": "scratch", "tier": "ZONAL"}, tier="BASIC_HDD"
        ),
        accident="a file server replaced by a smaller one",
    ),
    Case(
        "A schedule of the cloud is added by the program",
        names=(tells("resource-created", "nightly"), stops("program-edited", "program", "__main__.py")),
        files=("__main__.py",),
        steps=does(step("create", "gcp:cloudscheduler/job:Job", "nightly", new={"schedule": "0 3 * * *"})),
    ),
    Case(
        "An alert on idle machines goes with a refactoring",
        names=(stops("resource-deleted", "idle-h100"),),
        steps=deletes("gcp:monitoring/alertPolicy:AlertPolicy", "idle-h100", {"displayName": "idle H100"}),
        accident="an alarm deleted, and a bill a month later",
    ),
    Case(
        "The stack is named otherwise in the files: its own file goes",
        (Edit("stacks/Pulumi.dev.yaml"),),
        (stops("stack-gone", "stack dev"),),
        accident="a stack renamed, and the old one paid for months",
    ),
    Case(
        "A stream of events that is cut: what is missing is said, not guessed",
        names=(stops("program-edited", "program", "components/workspace.py"),),
        files=("components/workspace.py",),
        preview=read(lines("buckets")[:3]),
    ),
    Case(
        "Somebody set a deletion rule on the bucket by hand, and the deployment takes it away",
        names=(tells("drift", "work"),),
        may=("drift", "lifecycle-changed"),
        preview=Preview(
            steps=(
                step(
                    "update",
                    BUCKET,
                    "work",
                    old={**WORK, "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 7}}]},
                    new=WORK,
                    diffs=["lifecycleRules"],
                ),
            ),
            standing={
                f"urn:pulumi:prod::slipway::{BUCKET}::work": step(
                    "refresh",
                    BUCKET,
                    "work",
                    old=WORK,
                    new={**WORK, "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 7}}]},
                )
            },
        ),
    ),
    Case(
        "The rules in CrossGuard's pack are switched off",
        names=(stops("program-edited", "program", "policy/__main__.py"),),
        files=("policy/__main__.py",),
        accident="a policy pack that no longer ran",
    ),
    Case(
        "An organization's constraint on public addresses is lifted",
        names=(stops("resource-deleted", "no-public-ip"),),
        steps=deletes("gcp:orgpolicy/policy:Policy", "no-public-ip", {"parent": f"projects/{PROJECT}"}),
        accident="a guard rail removed for a test",
    ),
    Case(
        "A key ring's key is rotated once in ten years, not once in ninety days",
        names=(hurts("resource-changed", "k", "rotationPeriod"),),
        steps=does(
            edits("gcp:kms/cryptoKey:CryptoKey", "k", {"rotationPeriod": "7776000s"}, rotationPeriod="315360000s")
        ),
    ),
    Case(
        "What runs before each deletion is edited, and a retained bucket is let go",
        names=(
            stops("program-edited", "program", "slipway/deploying/deployment/deletion_guard.py"),
            hurts("bucket-changed | force-destroy", "acme-work"),
        ),
        may=("force-destroy",),
        files=("slipway/deploying/deployment/deletion_guard.py",),
        steps=edits_work({"forceDestroy": False}, forceDestroy=True),
    ),
    Case(
        "The trainer's account is described otherwise",
        names=(tells("resource-changed", "", TRAINER),),
        steps=does(
            edits(
                "gcp:serviceaccount/account:Account",
                "trainer",
                {"accountId": "trainer", "email": TRAINER, "project": PROJECT},
                description="what jobs run as",
            )
        ),
        world=BUSY,
    ),
    Case(
        "The code that makes and deletes a resource of the program's own is edited, which no file of the stack shows",
        names=(hurts("resource-changed", "", "__provider"),),
        steps=does(
            step(
                "update",
                "pulumi-python:dynamic:Resource",
                "seat",
                old={"seat": "1"},
                new={"seat": "1"},
                diffs=("__provider",),
            )
        ),
    ),
)
