"""Previews that fail or are cut, and what refuses a deployment."""

from slipway.deploying.engine.events import read
from tests.review.case import BUSY, STACK, Case, Edit, Job, World, h100, hurts, more, stack, stops, tells, template
from tests.review.edits import (
    ADA,
    ANCHOR,
    ANEW,
    H100_ENTRY,
    LARGER,
    LORA_REQUIREMENTS,
    NEAR,
    NOT_ON_THE_POOL,
    PROTECT,
    ROLLOVER,
    THEIRS,
    trainer,
)
from tests.slipway.reviewing.recordings import lines

GONE = {mode: Edit(STACK, H100_ENTRY.replace(ROLLOVER, f"replacement: {mode}"), "") for mode in ("in-place", "protect")}

CASES = (
    Case(
        "An id is mistyped: no cluster has it",
        (stack(ANCHOR, THEIRS.replace("team-a", "team-c") + ANCHOR),),
        (stops("preview-failed", "", "there is no cluster team-c in us-central1"),),
        world=NEAR,
    ),
    Case(
        "A pin with a hash, beside one without",
        (Edit(LORA_REQUIREMENTS, "torch==2.4.1", f"torch==2.4.1 --hash=sha256:{'a' * 64}"),),
        (stops("preview-failed", "", "'peft==0.13.0' has no hash"),),
        never=("aaaaaaaa",),
    ),
    Case(
        "The pool of schedulers is dropped that a template needs",
        (
            stack(
                "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n",
                "",
            ),
        ),
        (stops("preview-failed", "", "digits", "scheduler"), hurts("pool-gone", "cpu/head")),
        may=ANEW,
        world=BUSY,
        accident="a node group removed that others selected",
    ),
    Case(
        "A pool's disk is left to the default, and no longer equals the template's",
        (stack("machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }", "machine: a3-highgpu-8g"),),
        (stops("preview-failed", "", "lora", "disk"), stops("pool-unused", "h100/workers", "$202.07/h")),
        may=ANEW,
    ),
    Case(
        "A pool that two templates fit gets another machine",
        (stack("workers: { machine: n1-standard-8", "workers: { machine: n1-highmem-8"),),
        (
            stops(
                "preview-failed",
                "",
                "as templates digits and tune fit no pool",
                "each needs machine n1-standard-8",
            ),
        ),
        may=(*ANEW, "capacity-given-back", "idle-cost", "pool-unused"),
        never=("reasons", "give cpu/workers", "more, nearest"),
    ),
    Case(
        "Trials ask for machines that no pool has, and no value of theirs is at fault",
        (template("tune", '"n1-standard-8"', '"n1-highmem-8"'),),
        (stops("preview-failed", "", "tune", "declare a pool that has all it asks for"),),
        may=("machines-changed",),
        never=("with the values of", "one short run", "would run"),
        world=World(jobs=(Job("tune-depth", "tune"),)),
        accident="an instance type changed in a template alone",
    ),
    Case(
        "The work bucket has another name in the stack file, while jobs write to the old one",
        (stack("workBucket: acme-work", "workBucket: acme-results"),),
        (stops("preview-failed", "", "acme-work can't become bucket gs://acme-results", "stay in the old one"),),
        world=BUSY,
        accident="results that were looked for where they no longer went",
    ),
    Case(
        "The work bucket and the account have other names in a change that has a pool grow",
        (
            stack("workBucket: acme-work", "workBucket: acme-results"),
            stack("    trainer: trainer\n", "    trainer: trainer-two\n"),
            stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 24 }"),
        ),
        (
            stops("preview-failed", "", "things can't be deployed", "workBucket", "slipway:workspace.trainer"),
            hurts("cluster-new-generation", "cpu", "`pools.workers.replicas.max` 16 → 24", "digits-night"),
        ),
        may=ANEW,
        world=BUSY,
        accident="a tidier name, and a pull request that was read once more for all the rest",
    ),
    Case(
        "The catalog has another bucket, which nobody who submits knows of",
        (stack("catalogBucket: acme-catalog", "catalogBucket: acme-catalog-2"),),
        (stops("preview-failed", "", "acme-catalog can't become bucket gs://acme-catalog-2"),),
        world=BUSY,
    ),
    Case(
        "The account that jobs run as is left to its usual name",
        (stack("    trainer: trainer\n", ""),),
        (stops("preview-failed", "", "trainer@", "can't become account slipway-prod-trainer@"),),
        world=BUSY,
    ),
    Case(
        "The work bucket is left to its usual name",
        (stack("    workBucket: acme-work\n", ""),),
        (stops("preview-failed", "", "acme-work can't become bucket gs://acme-ml-prod-work"),),
        world=BUSY,
        accident="a name left out that had been said",
    ),
    Case(
        "A protected cluster is edited",
        (LARGER, stack("mode: enforce", "mode: warn")),
        (stops("preview-failed", "", "h100 is protected", "pools.workers"),),
        never=("slipway:quota.mode",),
        given=(PROTECT,),
        world=BUSY,
    ),
    Case(
        "A protected cluster is edited, and its protection dropped in the same edit",
        (stack("replacement: protect", "replacement: in-place\n      generation: 2"),),
        (stops("preview-failed", "", "h100 is protected", "generation", "in two deployments"),),
        given=(PROTECT,),
    ),
    Case(
        "A protected cluster leaves the stack file",
        (GONE["protect"], NOT_ON_THE_POOL),
        (stops("preview-failed", "", "h100 is protected", "its declaration, which is gone"),),
        given=(PROTECT,),
        world=BUSY,
    ),
    Case(
        "Jobs are to run as another account, while some run as the old one",
        (stack("    trainer: trainer\n", "    trainer: trainer-two\n"),),
        (stops("preview-failed", "", "trainer@", "can't become account trainer-two@"),),
        world=BUSY,
        accident="a service account switched under running jobs",
    ),
    Case(
        "A refusal behind a variant that fits first",
        (
            template(
                "lora",
                '("pool", "reservation", "spot"),\n        ),\n',
                '("pool", "reservation", "spot"),\n        ),\n'
                '        Variant({"model": "27b", "precision": "fp32"}, refusal="27b in fp32 does not fit"),\n',
            ),
        ),
        (stops("preview-failed", "", "variant 2", "never applies", "variant 1"),),
        world=BUSY,
        accident="an exception below the rule that it was to except from",
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
        "Larger disks of a cluster in a network, for which its template does not ask",
        (stack("sizeGb: 500 }, replicas: { min: 2", "sizeGb: 1000 }, replicas: { min: 2"),),
        (
            stops("preview-failed", "", "template lora", "nearest pool h100/workers has pd-ssd 1000 GB"),
            stops("pool-unused", "h100"),
        ),
        given=(h100("network: projects/1/global/networks/train"),),
        world=BUSY,
        may=(*ANEW, "most-cost", "idle-cost"),
        never=("leave network",),
        accident="a disk that grew under a template",
    ),
    Case(
        "A typing error in the stack file",
        (stack("retireWithin: 2w", "retireWithin: 2 weeks"),),
        (stops("preview-failed", "", "retireWithin"),),
        world=BUSY,
    ),
    Case(
        "A typing error in a stack file that drops a rule as well",
        (stack("retireWithin: 2w", "retireWithin: 2 weeks"), stack("      regions: [us-central1]\n", "")),
        (
            stops("preview-failed", "", "retireWithin"),
            stops("policy-weaker", "policy regions", "is dropped"),
        ),
        accident="a rule dropped behind another mistake",
    ),
    Case(
        "A template that can't be read",
        (template("tune", "timeout_s=3600", "timeout_s=-1"),),
        (stops("preview-failed", "", "tune"),),
    ),
    Case(
        "Three templates that can't be loaded or packed, in the change that has a pool grow",
        (
            template("lora", "TEMPLATE = JobTemplate(", "TEMPLATE = JobTemplate(("),
            template("digits", "timeout_s=3600", "timeout=3600"),
            template("tune", '"tune.task"', '"tune.tasks"'),
            stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 24 }"),
        ),
        (
            stops("preview-failed", "", "templates/lora.py can't be loaded: line 13", "`timeout_s`", "no module"),
            hurts("cluster-new-generation", "cpu", "`pools.workers.replicas.max` 16 → 24", "digits-night"),
        ),
        may=ANEW,
        world=BUSY,
        accident="a bracket lost in a merge, and a pull request that was read once more for all the rest",
    ),
    Case(
        "A new template that can't be loaded, and the pool for it",
        (
            Edit("templates/judge.py", new="from slipway.template import JobTemplates\n"),
            stack("    - evals\n", "    - evals\n    - judge\n"),
            stack("        head: {", "        big: { machine: n1-highmem-8, replicas: 2 }\n        head: {"),
        ),
        (
            stops("preview-failed", "", "templates/judge.py can't be loaded", "JobTemplates"),
            tells("idle-cost", "stack", "$834 a month more"),
        ),
        may=ANEW,
    ),
    Case(
        "A component declares a service that has no API here: the preview fails as the deployment would",
        names=(stops("preview-failed", ""),),
        may=("account-created", "public-access"),
        preview=read(lines("refused")),
    ),
    Case(
        "A template moves to machines that no pool has, and only Spot is left",
        (template("digits", 'WorkerPool("workers", "n1-standard-8"', 'WorkerPool("workers", "n1-highmem-8"'),),
        (stops("preview-failed", "", "digits"), tells("machines-changed", "digits", "n1-highmem-8")),
        world=BUSY,
    ),
    Case(
        "A template names a trainer that the stack does not have",
        (more("lora", 'trainer="tunning"'),),
        (stops("preview-failed", "", "did you mean `tuning`?"),),
        given=(trainer(ADA),),
    ),
)
