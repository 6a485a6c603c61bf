"""Edits that have another effect than their author means: none, more than they say, or one for other jobs. # N5"""

from tests.review.case import (
    BUSY,
    LARGE,
    Case,
    Edit,
    Job,
    World,
    h100,
    hurts,
    more,
    stack,
    stops,
    tells,
    template,
)
from tests.review.cases.clusters import ANEW, HEAD

POLICY = "  slipway:policy:\n"
NIGHTLY = Job("digits-night", "digits", "nightly", parameters={"workers": 12})
SMALLER = "replicas: { min: 2, max: 8 }"
WORKERS = "n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 4, max: 16 }"
THEIRS = """    vision:
      id: team-b-cpu
      pools:
        workers: { machine: n1-standard-8, replicas: { min: 1, max: 4 } }
"""
PINS = Edit("requirements.txt", "", "pulumi==3.215.0\npulumi-gcp==10.2.0\n")
COMMIT = "0123456789abcdef0123456789abcdef01234567"

CASES = (
    Case(
        "A team gets a budget under a name for which no job counts",
        (stack(POLICY, "  slipway:budget: { teams: { research: 5000 }, enforce: true }\n\n" + POLICY),),
        (hurts("budget-changed", "budget teams.research", "no job counts for it", "holds nobody", "`ml`"),),
        accident="a limit for a name that nobody has",
    ),
    Case(
        "A deployment is to wait for machines for longer than its workflow runs",
        (h100("createWithin: 6h"),),
        (hurts("cluster-protection", "h100", "6 h", "ends after 3 h", "others' deployments wait", "`2h` or less"),),
        accident="a deployment cut off by its runner's limit",
    ),
    Case(
        "A cluster stays over the holidays, paid with nobody there",
        (stack("until: 2026-12-18", "until: 2027-01-11"),),
        (hurts("season-changed", "h100", "$147,666 a month"),),
        given=(h100("until: 2026-12-18"),),
        world=BUSY,
        accident="idle machines over a holiday",
    ),
    Case(
        "Where everything is only has to be said from now on",
        (
            stack("      regions: [us-central1]\n      reviewedCodeOnly", "      reviewedCodeOnly"),
            stack("      longestTimeout: 48\n", "      longestTimeout: 48\n      regions: [us-central1]\n"),
        ),
        (stops("policy-weaker", "regions", "`us-central1, mandatory` → `us-central1, advisory`"),),
    ),
    Case(
        "A rule is loosened together with what it would have told",
        (
            template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),
            stack("longestTimeout: 48", "longestTimeout: 168"),
        ),
        (
            hurts("policy-weaker", "longestTimeout", "objects to this change (template lora", "168 h"),
            hurts("timeout-changed", "lora", "on pool `h100` holds machines for which others wait"),
        ),
        may=("run-cost",),
        world=World(jobs=(LARGE,)),
        accident="a check that was loosened by the change that it would have stopped",
    ),
    Case(
        "Fewer and larger machines, of which the nightly search asks for more than there can be",
        (
            stack(WORKERS, WORKERS.replace("standard-8", "standard-16").replace("min: 4, max: 16", "min: 2, max: 8")),
            template("digits", '"workers", "n1-standard-8"', '"workers", "n1-standard-16"'),
            template("tune", '"trial", "n1-standard-8"', '"trial", "n1-standard-16"'),
        ),
        (
            hurts(
                "capacity-lower-maximum",
                "cpu/workers",
                "Jobs of `digits` with more than 8 machines don't fit",
            ),
            hurts("machines-changed", "digits", "n1-standard-16"),
        ),
        may=(*ANEW, "capacity-given-back", "machines-changed", "run-cost", "minimum-below-default"),
        world=World(jobs=(NIGHTLY,)),
        accident="a schedule that asked for more than its pool",
    ),
    Case(
        "Workers of a kind that no pool has, and no quota of Spot",
        (
            template("digits", '"workers", "n1-standard-8"', '"workers", "n1-highmem-8"'),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
        ),
        (
            hurts("offer-gone", "digits pool cpu", "on demand"),
            hurts("pool-unused", "cpu/head"),
        ),
        may=("machines-changed", "pool-unused", "run-cost"),
        world=World(jobs=(NIGHTLY,), limits={"cpus": 200, "preemptible_cpus": 1}),
        accident="a job type changed, its pool not",
    ),
    Case(
        "Logs come as they are written",
        (more("digits", 'env={"PYTHONUNBUFFERED": "1"}'),),
        (tells("environment-changed", "digits", "PYTHONUNBUFFERED"),),
    ),
    Case(
        "Another team's cluster is lent, and jobs can use it",
        (stack("  slipway:quota:", f"{THEIRS}  slipway:quota:"),),
        (
            hurts("cluster-adopted", "vision", "its owner pays", "ask its owner"),
            tells("offer-added", "tune", "on the bill of whoever owns pool `vision`"),
        ),
        world=World(theirs=("team-b-cpu",)),
        accident="a borrowed cluster on its owner's bill",
    ),
    Case(
        "Machines with GPUs join those without",
        (stack(HEAD, HEAD + "        small: { machine: g2-standard-12, replicas: 1 }\n"),),
        (hurts("pool-unused", "cpu/small"),),
        may=(*ANEW, "idle-cost"),
    ),
    Case(
        "A package comes from a branch that anybody may push to",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", "peft @ git+https://github.com/acme/peft@main"),),
        (
            hurts(
                "requirements-changed",
                "lora",
                "what lies there then, which no review sees",
                "the image has git where",
                "40 digits",
            ),
        ),
        accident="a dependency's branch that somebody else had pushed to",
    ),
    Case(
        "A package comes from a commit",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", f"peft @ git+https://github.com/acme/peft@{COMMIT}"),),
        (hurts("requirements-changed", "lora", "the image has git where it needs that"),),
        never=("pushed last",),
    ),
    Case(
        "The engine's provider gets a new major version",
        (Edit("requirements.txt", "pulumi-gcp==10.2.0", "pulumi-gcp==11.0.0"),),
        (stops("pins-changed", "program", "10.2.0 → 11.0.0", "preview each stack with them first"),),
        given=(PINS,),
        accident="a provider that replaced what its older version had made",
    ),
    Case(
        "A team gets a budget beyond which its jobs are refused",
        (stack(POLICY, "  slipway:budget: { teams: { ml: 300 }, enforce: true }\n\n" + POLICY),),
        (hurts("budget-changed", "budget teams.ml", "may spend $300 a month", "refused, until the next month"),),
        accident="a team whose jobs were refused from the tenth of a month on",
    ),
    Case(
        "A team gets a budget that its jobs count for",
        (stack(POLICY, "  slipway:budget: { teams: { ml: 5000 } }\n\n" + POLICY),),
        (tells("budget-changed", "budget teams.ml", "only warned"),),
    ),
    Case(
        "Judges draw no bars of progress into their logs",
        (template("evals", '"REGION": "us-central1"', '"REGION": "us-central1", "TQDM_DISABLE": "1"'),),
        (tells("environment-changed", "evals", "TQDM_DISABLE"),),
        accident="a log that nobody could read",
    ),
    Case(
        "A rule gets another region together with a cluster that may come up there",
        (
            stack("regions: [us-central1]", "regions: [us-central1, us-east5]"),
            h100("alternatives: [{ region: us-east5 }]"),
        ),
        (
            stops(
                "policy-weaker",
                "regions",
                "objects to this change (cluster h100 (alternative 1)",
            ),
        ),
        may=("cluster-may-become", "bucket-created", "access-added", "resource-created"),
        world=BUSY,
        accident="data that left its region",
    ),
    Case(
        "A deployment is to wait for machines for an hour",
        (h100("createWithin: 1h"),),
        (tells("cluster-protection", "h100", "at most 1 h for machines", "instead of"),),
        never=("killed",),
    ),
)
