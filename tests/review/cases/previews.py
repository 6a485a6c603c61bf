"""Previews that fail or are cut, and what refuses a deployment."""

from tests.review.case import BUSY, Case, hurts, stack, stops, tells, template
from tests.review.edits import ANCHOR, ANEW, NEAR, PROTECT, THEIRS

CASES = (
    Case(
        "An id is mistyped: no cluster has it",
        (stack(ANCHOR, THEIRS.replace("team-a", "team-c") + ANCHOR),),
        (stops("preview-failed", "", "there is no cluster team-c in us-central1"),),
        world=NEAR,
    ),
    Case(
        "A pool's disk is left to the default, and no longer equals the template's",
        (stack("machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }", "machine: a3-highgpu-8g"),),
        (stops("preview-failed", "", "lora", "disk"), stops("pool-unused", "h100/workers", "$202.07/h")),
        may=ANEW,
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
        "A protected cluster is edited, and its protection dropped in the same edit",
        (stack("replacement: protect", "replacement: in-place\n      generation: 2"),),
        (stops("preview-failed", "", "h100 is protected", "generation", "in two deployments"),),
        given=(PROTECT,),
    ),
    Case(
        "Jobs are to run as another account, while some run as the old one",
        (stack("    trainer: trainer\n", "    trainer: trainer-two\n"),),
        (stops("preview-failed", "", "trainer@", "can't become account trainer-two@"),),
        world=BUSY,
        accident="a service account switched under running jobs",
    ),
    Case(
        "The stack moves to another project",
        (stack("gcp:project: acme-ml\n", "gcp:project: acme-ml-two\n"),),
        (stops("preview-failed", ""),),
        world=BUSY,
        accident="a stack pointed at another project",
    ),
    Case(
        "A typing error in a stack file that drops a rule as well",
        (stack("retireWithin: 2w", "retireWithin: 2 weeks"), stack("      regions: [us-central1]\n", "")),
        (stops("preview-failed", "", "retireWithin"), stops("policy-weaker", "policy regions", "is dropped")),
        accident="a rule dropped behind another mistake",
    ),
    Case(
        "A template moves to machines that no pool has, and only Spot is left",
        (template("digits", 'WorkerPool("workers", "n1-standard-8"', 'WorkerPool("workers", "n1-highmem-8"'),),
        (stops("preview-failed", "", "digits"), tells("machines-changed", "digits", "n1-highmem-8")),
        world=BUSY,
    ),
)
