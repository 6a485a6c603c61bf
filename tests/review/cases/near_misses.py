"""Changes that nearly are of a kind: for each question and each kind by hand at least one without a finding of it."""

from typing import Any

from slipway.deploying.engine.preview import Preview
from tests.review.case import BUSY, Case, Edit, World, notes, stack, template, warns
from tests.review.edits import ADA, BEN, LORA_REQUIREMENTS, TASK, TEAM, h100_limit, trainer
from tests.review.engine import (
    BUCKET,
    OBJECT,
    SQL,
    WORK,
    creates,
    deletes,
    does,
    edits_work,
    updates,
)
from tests.slipway.reviewing.builders import step

SECRET_TYPE = "gcp:secretmanager/secret:Secret"
PINS = "requirements.txt"
PINNED = Edit(PINS, "", "# Pinned.\npulumi-gcp==9.4.0\nurllib3==2.5.0\n")
WORKERS = "replicas: { min: 4, max: 16 }"
HEAD = "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n"
SPARE = (
    "    spare:\n      pools:\n        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 },"
    " replicas: { min: 1, max: 2, initial: 2 } }\n    cpu:\n"
)


def near(kinds: str, says: str, *edits: Edit, **fields: Any) -> Case:
    """Return a case without a finding of these kinds."""
    return Case(says, edits, absent=tuple(kinds.split(" | ")), **fields)


CASES = (
    near(
        "cluster-replaced | cluster-updated | capacity-changed",
        "Pools of a cluster in another order",
        stack(f"{HEAD}        workers:", "        workers:"),
        stack(f"{WORKERS} }}\n", f"{WORKERS} }}\n{HEAD}"),
        world=BUSY,
    ),
    near(
        "job-loses-resource",
        "A secret is deleted that no job reads",
        finds=(notes("resource-deleted", "unused"),),
        may=("resource-deleted",),
        steps=deletes(SECRET_TYPE, "unused", {"secretId": "unused", "project": "acme-ml"}),
        world=BUSY,
    ),
    near(
        "job-loses-resource | jobs-cancelled",
        "A template gets another secret while a job with the old one runs, which is kept",
        template("lora", '"hf-token"', '"hub-token"'),
        finds=(warns("submission-changed", "lora"),),
        world=BUSY,
    ),
    near(
        "submission-rejected | submission-changed",
        "A parameter gets a wider bound and another choice",
        template("lora", "max=256", "max=512"),
        template("lora", '("bf16", "fp32")', '("bf16", "fp32", "fp8")'),
        world=BUSY,
    ),
    near(
        "access-gained | access-lost",
        "Submitters are listed in another order",
        stack(f"      - {TEAM}\n      - {ADA}\n", f"      - {ADA}\n      - {TEAM}\n"),
        world=BUSY,
    ),
    near(
        "quota-short-now | quota-short-at-most",
        "Quota is exactly as large as the new maximum and the machines of both generations",
        stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 6 }"),
        finds=(warns("cluster-replaced", "h100"),),
        may=("most-cost",),
        world=h100_limit(48),
    ),
    near(
        "idle-cost | most-cost",
        "A pool keeps as many machines under another name",
        stack("        head: { machine", "        main: { machine"),
        may=("cluster-replaced", "capacity-changed", "submission-changed"),
    ),
    near(
        "policy-violated | policy-advice",
        "A timeout is exactly as long as policy allows",
        template("lora", "timeout_s=86_400", "timeout_s=48 * 3600"),
        may=("submission-changed", "submission-warning"),
    ),
    near(
        "deployment-rejected",
        "The program prints a warning",
        finds=(),
        preview=Preview(warnings=("warning: an input is deprecated",)),
    ),
    near("deployment-code-changed", "A page beside the program is edited", files=("README.md", "docs/runbook.md")),
    near("dependency-changed", "A comment among pins", Edit(PINS, "# Pinned.\n", "# By us.\n"), given=(PINNED,)),
    near(
        "dependency-changed",
        "Pins in another order",
        Edit(PINS, "pulumi-gcp==9.4.0\nurllib3==2.5.0\n", "urllib3==2.5.0\npulumi-gcp==9.4.0\n"),
        given=(PINNED,),
    ),
    near(
        "identity-changed",
        "Jobs may run in a second region",
        stack("  slipway:policy:\n", "  slipway:regions: [us-east4]\n  slipway:policy:\n"),
        stack("regions: [us-central1]", "regions: [us-central1, us-east4]"),
        may=("policy-loosened",),
    ),
    near(
        "takes-effect-later",
        "A cluster is created with more machines than its minimum",
        stack("    cpu:\n", SPARE),
        finds=(notes("cluster-created", "spare"),),
        may=("idle-cost", "most-cost", "submission-changed"),
    ),
    near(
        "guard-missing",
        "The guard of another version is registered",
        preview=Preview(hooks=frozenset({"slipway-guard-v1", "slipway-create-v1"})),
    ),
    near(
        "plain-secret",
        "A tokenizer, a key's name and a digest in plain environment",
        template(
            "evals",
            'env={"REGION": "us-central1"}',
            'env={"REGION": "us-central1", "TOKENIZER": "bert-base-uncased", "KEY_NAME": "judge-key"}',
        ),
        may=("job-code-changed", "submission-changed"),
    ),
    near(
        "job-code-changed | code-contract-broken",
        "A comment of job code",
        Edit(TASK, "# Every step is seeded, so that two runs are the same.", "# Each step has a seed."),
        world=BUSY,
    ),
    near(
        "code-contract-broken",
        "An argument is new in the template and in the code",
        template("tune", '"--folds=${folds}"', '"--folds=${folds}", "--quick"'),
        Edit(
            "jobs/tune/task.py",
            'parser.add_argument("--folds")\n',
            'parser.add_argument("--folds")\n    parser.add_argument("--quick", action="store_true")\n',
        ),
        finds=(notes("job-code-changed", "tune"),),
        may=("job-code-changed", "submission-changed"),
        given=(
            Edit(
                "jobs/tune/task.py",
                "def main() -> None:\n",
                "import argparse\n\n\ndef main() -> None:\n    parser = argparse.ArgumentParser()\n"
                '    parser.add_argument("--folds")\n    parser.add_argument("--depth")\n    parser.parse_args()\n',
            ),
        ),
    ),
    near(
        "job-code-changed | dependency-changed",
        "A comment and an empty line among the packages of jobs",
        Edit(LORA_REQUIREMENTS, "torch==2.4.1\n", "# For CUDA 12.\ntorch==2.4.1\n\n"),
    ),
    near(
        "bucket-deleted",
        "An object of a bucket is deleted",
        finds=(notes("resource-deleted"),),
        may=("resource-deleted",),
        steps=deletes(OBJECT, "readme", {"bucket": "acme-work", "name": "README.md"}),
    ),
    near(
        "retention-changed | bucket-changed",
        "The engine lists a bucket's fields in another order",
        steps=edits_work({"labels": {"a": "1", "b": "2"}}, labels={"b": "2", "a": "1"}),
    ),
    near(
        "resource-deleted | resource-replaced",
        "A database gets more memory in place",
        finds=(notes("resource-changed", "runs"),),
        may=("resource-changed",),
        steps=updates(SQL, "runs", {"name": "runs", "settings": {"tier": "db-g1-small"}}, settings={"tier": "db-n1"}),
    ),
    near(
        "resource-changed | resource-deleted",
        "Resources of the program stay as they are",
        steps=does(step("same", SECRET_TYPE, "hf-token", old={"secretId": "hf-token"}, new={"secretId": "hf-token"})),
    ),
    near(
        "drift",
        "A bucket is edited by the program alone",
        finds=(notes("bucket-changed", "acme-work"),),
        may=("bucket-changed",),
        steps=edits_work({}, labels={"team": "ml"}),
    ),
    near(
        "value-unknown",
        "A bucket is created whose address the service gives",
        finds=(),
        steps=creates(BUCKET, "new", {**WORK, "name": "acme-new"}),
    ),
    near(
        "allowance-loosened",
        "A budget becomes smaller",
        stack("{ stack: 800000 }", "{ stack: 700000 }"),
        finds=(warns("allowance-tightened", "budget"),),
        given=(stack("  slipway:policy:\n", "  slipway:budget: { stack: 800000 }\n  slipway:policy:\n"),),
    ),
    near(
        "allowance-tightened",
        "A budget becomes larger",
        stack("{ stack: 700000 }", "{ stack: 800000 }"),
        finds=(warns("allowance-loosened", "budget"),),
        may=("allowance-loosened",),
        given=(stack("  slipway:policy:\n", "  slipway:budget: { stack: 700000 }\n  slipway:policy:\n"),),
    ),
    near(
        "policy-loosened",
        "A rule is stricter, and another one is new",
        stack("      longestTimeout: 48\n", "      longestTimeout: 36\n      labels: [team]\n"),
        may=("policy-advice",),
    ),
    near(
        "cluster-orphaned | cluster-deleted",
        "A cluster is listed further below",
        stack(
            "      labels: { team: platform }\n",
            "      labels: { team: platform }\n      displayName: cpu of research\n",
        ),
        stack("    cpu:\n      displayName: cpu of research\n", "    cpu:\n"),
        world=BUSY,
    ),
    near(
        "access-gained",
        "A trainer's members in another order",
        stack(f"        - {ADA}\n        - {BEN}\n", f"        - {BEN}\n        - {ADA}\n"),
        given=(trainer(ADA, BEN),),
        world=World(),
    ),
    near(
        "cluster-deleted | jobs-cancelled",
        "A cluster may live two weeks longer beside its successor",
        stack("retireWithin: 2w", "retireWithin: 4w"),
        may=("takes-effect-later",),
        world=BUSY,
    ),
    near(
        "capacity-changed",
        "A cluster gets its maximum as its first size",
        stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 4, initial: 4 }"),
    ),
)
