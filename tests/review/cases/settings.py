"""Settings of the stack that are seldom edited, and the remedies and names that a review tells with them."""

from tests.review.case import BUSY, Case, Edit, Job, World, h100, hurts, imports, more, stack, stops, tells, template
from tests.review.engine import ON_BUCKET, granted

WORKSPACE = "    trainer: trainer\n"
POLICY = "  slipway:policy:\n"
TEAM, ADA = "group:ml@acme.example", "user:ada@acme.example"
VISION = "  slipway:teams: { vision: { submitters: [group:vision@acme.example], clusters: [cpu] } }\n"


def workspace(*lines: str) -> Edit:
    return stack(WORKSPACE, WORKSPACE + "".join(f"    {line}\n" for line in lines))


def without(*lines: str) -> Edit:
    return stack("".join(f"    {line}\n" for line in lines), "")


CASES = (
    Case(
        "The page of all jobs and costs goes",
        (without("board: true"),),
        (tells("board-shown"),),
        given=(workspace("board: true"),),
    ),
    Case(
        "Nobody is told of jobs any more",
        (without("notify: chat"),),
        (hurts("jobs-told", "workspace notify", "Nobody is told any more", "`chat`"),),
        given=(workspace("notify: chat"),),
    ),
    Case(
        "A study runs more trials at once, and ends after fewer failures",
        (template("tune", "parallel_trials=2, max_failed_trials=3", "parallel_trials=4, max_failed_trials=1"),),
        (
            hurts(
                *("study-changed", "tune", "run `4` trials at once instead of `2`"),
                "learns nothing from those beside it",
            ),
            hurts("study-changed", "tune", "end after `1` failed trials instead of `3`"),
        ),
        given=(
            template(
                "tune", '        Parameter("parallel", int, default=2, min=1, max=4, help="trials at once"),\n', ""
            ),
            template("tune", 'parallel_trials="${parallel}"', "parallel_trials=2, max_failed_trials=3"),
        ),
        may=("run-cost",),
    ),
    Case(
        "Dearer jobs have to be confirmed",
        (
            stack("confirmAbove: 500", "confirmAbove: 50"),
            stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),
        ),
        (tells("spending-limit"),),
        given=(workspace("confirmAbove: 500"),),
        may=("submitter-gone",),
    ),
    Case(
        "A group leaves, and another one comes with a person who stays in one of them",
        (stack(f"      - {TEAM}\n", "      - group:nlp@acme.example\n"),),
        (
            stops(
                "submitter-gone", TEAM, "except as a member of `group:nlp@acme.example` or `group:vision@acme.example`"
            ),
        ),
        may=("submitter-added",),
        given=(stack(f"      - {TEAM}\n", f"      - {TEAM}\n      - group:vision@acme.example\n"),),
        accident="a renamed group, whose old members were locked out",
    ),
    Case(
        "Somebody may submit where each job tells a chat room",
        (stack(f"      - {ADA}\n", f"      - {ADA}\n      - user:ben@acme.example\n"),),
        (tells("submitter-added", "ben", "read 2 secrets"),),
        given=(workspace("notify: chat"),),
        accident="a webhook within the reach of all jobs",
    ),
    Case(
        "A study that has just begun may run a tenth of the time",
        (template("lora", "timeout_s=86_400", "timeout_s=8640"),),
        (
            stops("timeout-changed", "lora", "not known: how long they take"),
            tells("run-cost", "lora", "A run (model=27b) costs $63.92/h on Spot"),
        ),
        never=("run on demand costs",),
        world=World(jobs=(Job("tune-9b", capacity_type="spot", hours=0.1),)),
    ),
    Case(
        "A pool's maximum falls, where another pool is the narrow one",
        (stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 12 }"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("capacity-lower-maximum", "cpu/workers", "more than 12 machines"),
        ),
        may=("generations-overlap", "capacity-found-anew"),
        accident="a limit lowered on the wrong pool",
    ),
    Case(
        "A team's only cluster goes",
        (stack("clusters: [cpu] ", "clusters: [] "),),
        (
            hurts("cluster-team", "team vision", "no cluster of its own", "`cpu`"),
            hurts("cluster-team", "cluster cpu", ADA),
        ),
        given=(stack(POLICY, VISION + POLICY),),
        accident="machines that a team had counted on",
    ),
    Case(
        "A template tries a team's cluster first",
        (template("evals", '("spot", "on-demand")', '("pool", "spot", "on-demand")'),),
        (hurts("offer-added", "evals pool cpu", "(team `vision` alone)"),),
        may=("run-cost",),
        given=(stack(POLICY, VISION + POLICY),),
    ),
    Case(
        "Anybody may read the results",
        names=(stops("public-access", "allUsers", "Google refuses that"),),
        steps=granted(ON_BUCKET, "allUsers", "roles/storage.objectViewer", bucket="acme-work"),
        accident="a bucket opened to the internet",
    ),
    Case(
        "An argument names a variable that goes",
        (template("evals", 'env={"REGION": "us-central1"}', 'env={"PLACE": "us-central1"}'),),
        (stops("environment-changed", "evals environment variable REGION", "or arguments name"),),
        given=(template("evals", '"--batch=${batch}"', '"--batch=${batch}", "--region=$(REGION)"'),),
        may=("environment-changed",),
        accident="a renamed variable that one of its readers kept",
    ),
    Case(
        "A cluster that lives gets a beginning in the past",
        (h100("from: 2026-11-01"),),
        world=BUSY,
    ),
    Case(
        "A cluster may come to be in another region, beside the machines that were listed",
        (
            stack("alternatives:\n", "alternatives:\n        - region: us-east4\n"),
            stack("regions: [us-central1]", "regions: [us-central1, us-east4]"),
        ),
        (
            hurts("cluster-may-become", "h100", "us-east4", "billed by the gigabyte"),
            stops("policy-weaker", "regions", "us-east4"),
        ),
        given=(
            h100("alternatives:", "  - pools: { workers: { machine: a3-megagpu-8g, replicas: { min: 1, max: 2 } } }"),
        ),
        may=("bucket-created",),
        never=("a3-megagpu-8g",),
        world=BUSY,
    ),
    Case(
        "A cluster becomes a team's, and a template counts for that team by itself",
        (stack("clusters: []", "clusters: [cpu]"),),
        (hurts("cluster-team", "cpu", "jobs of `digits` to `cpu`", "count for team `vision`"),),
        given=(
            stack(POLICY, VISION.replace("[cpu]", "[]") + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
    ),
    Case(
        "No template fits a protected cluster's pool any more",
        (
            template("digits", '"n1-standard-4", DISK', '"n1-standard-16", DISK'),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
        ),
        (hurts("pool-unused", "cpu/head"),),
        given=(
            stack(
                "      displayName: cpu of research\n",
                "      displayName: cpu of research\n      replacement: protect\n",
            ),
        ),
        may=("machines-changed", "offer-gone", "run-cost"),
        never=("which saves",),
    ),
    Case(
        "A cluster is not given up any more for want of jobs, until its end",
        (stack("      idleLimit: 3d\n", ""),),
        (tells("season-changed", "h100 idleLimit", "for want of jobs"),),
        given=(h100("idleLimit: 3d", "until: 2027-03-01"),),
        world=BUSY,
    ),
    Case(
        "A cluster that lives has no beginning any more",
        (stack("      from: 2026-01-10\n", ""),),
        given=(h100("from: 2026-01-10"),),
        world=BUSY,
        never=("at once",),
    ),
    Case(
        "A cluster that is to come comes a week later",
        (stack("from: 2026-12-20", "from: 2026-12-27"),),
        (tells("season-changed", "h100 from", "2026-12-27"),),
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "An old cluster is not watched any more",
        (stack("      retireWithin: 7d\n", ""),),
        (tells("cluster-protection", "cpu retireWithin", "don't warn any more"),),
        world=BUSY,
    ),
    Case(
        "A team's cluster is another team's too",
        (stack("clusters: []", "clusters: [cpu]"),),
        (tells("cluster-team", "cluster cpu", "group:speech@acme.example"),),
        given=(
            stack(
                POLICY,
                "  slipway:teams:\n    vision: { submitters: [group:vision@acme.example], clusters: [cpu] }\n"
                "    speech: { submitters: [group:speech@acme.example], clusters: [] }\n" + POLICY,
            ),
        ),
    ),
    Case(
        "A template's jobs count for another team, and lose the cluster that was theirs",
        (template("tune", '"team": "vision"', '"team": "visoin"'),),
        (stops("request-changed", "tune label team", "can't use `cpu` any more", "nowhere else"),),
        given=(
            stack(POLICY, VISION + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
        may=("offer-gone", "run-cost", "cluster-team", "no-offer-left"),
        accident="a label mistyped, and a team's machines idle",
    ),
    Case(
        "A team goes with its budget: nobody counts for it",
        (stack("    vision: { submitters: [group:vision@acme.example], budget: 900 }\n", ""),),
        (stops("submitter-gone", "vision"),),
        given=(
            stack(
                POLICY,
                "  slipway:teams:\n    vision: { submitters: [group:vision@acme.example], budget: 900 }\n"
                "    speech: { submitters: [group:speech@acme.example] }\n" + POLICY,
            ),
        ),
        never=("may spend",),
    ),
    Case(
        "A reservation has one machine, where it had two",
        (stack("machines: 2 }", "machines: 1 }"),),
        (tells("used-later", "bought", "2 → 1"),),
        never=("are refused:",),
    ),
    Case(
        "A cheap cluster stays a month longer",
        (stack("until: 2026-12-20", "until: 2027-01-20"),),
        (tells("season-changed", "cpu until", "stay until 2027-01-20", "instead of 2026-12-20"),),
        given=(
            stack(
                "      displayName: cpu of research\n", "      displayName: cpu of research\n      until: 2026-12-20\n"
            ),
        ),
        never=("takes no new jobs",),
    ),
    Case(
        "Checkpoints are written to the machine's disk",
        (template("evals", "/gcs/acme-work/ckpt", "/tmp/ckpt"),),
        (stops("environment-changed", "evals", "CKPT_DIR", "machine's disk", "is lost with the machine"),),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"CKPT_DIR": "/gcs/acme-work/ckpt"}'),),
        accident="days of training lost with a preempted machine",
    ),
    Case(
        "A template's jobs count for no team any more, and lose the cluster that was theirs",
        (template("tune", '    labels={"team": "vision"},\n', ""),),
        (stops("request-changed", "tune label team", "can't use `cpu` any more", "nowhere else"),),
        given=(
            stack(POLICY, VISION + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
        may=("offer-gone", "run-cost", "cluster-team", "no-offer-left"),
        accident="a label tidied away, and with it a team's machines",
    ),
    Case(
        "A template's label goes, and with it a team's machines and budget",
        (template("lora", '    labels={"team": "vision"},\n', ""),),
        (hurts("request-changed", "lora label team", "can't use `h100` any more", "unless `--team vision`"),),
        given=(
            stack(POLICY, VISION.replace("[cpu]", "[h100], budget: 900") + POLICY),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
        accident="a label tidied away, and with it a team's machines",
    ),
    Case(
        "A team goes whose label a template keeps: its jobs have no limit of their own any more",
        (stack(VISION.replace("clusters: [cpu]", "budget: 900"), ""),),
        (
            stops("submitter-gone", "vision"),
            hurts("budget-changed", "teams.vision", "Jobs with label `team` vision", "$80,000"),
        ),
        given=(
            stack(
                POLICY,
                "  slipway:budget: { stack: 80000, enforce: true }\n"
                + VISION.replace("clusters: [cpu]", "budget: 900")
                + POLICY,
            ),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
        may=("budget-share",),
        accident="a team dissolved, and its nightly jobs unlimited",
    ),
    Case(
        "A reservation is given back but for one machine, and jobs of two take the next way",
        (stack("machine: a3-highgpu-8g, machines: 2", "machine: a3-highgpu-8g, machines: 1"),),
        (
            hurts("offer-gone", "lora", "(model=27b)", "reservation `bought`", "it holds 1", "on Spot"),
            tells("used-later", "", "2 → 1"),
        ),
        given=(
            template(
                "lora",
                '                    reservation="bought",\n                ),\n',
                '                    reservation="bought",\n                ),\n                WorkerPool("helper", '
                '"a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS, reservation="bought"),\n',
            ),
        ),
        accident="jobs on Spot while a reservation was paid",
    ),
    Case(
        "Sessions may run three days instead of one evening",
        (stack("max: 8h", "max: 72h"),),
        (hurts("sessions-limited", "", "on cpu/workers for up to 3 days instead of 8 h", "take no job"),),
        given=(stack(POLICY, "  slipway:sessions: { max: 8h, pools: [cpu/workers] }\n" + POLICY),),
        accident="a pool held for a weekend by a forgotten session",
    ),
    Case(
        "Sessions may not run anywhere any more",
        (stack("pools: [cpu/workers]", "pools: []"),),
        (hurts("sessions-limited", "", "nowhere instead of on cpu/workers"),),
        given=(stack(POLICY, "  slipway:sessions: { pools: [cpu/workers] }\n" + POLICY),),
    ),
    Case(
        "A season is to begin a year too early, so that its machines are made now",
        (stack("from: 2027-01-10", "from: 2026-01-10"),),
        (hurts("idle-cost", ""), tells("cluster-created", "h100", "from")),
        given=(h100("from: 2027-01-10"),),
        may=("cluster-created", "offer-available", "capacity-found-anew", "run-cost", "pool-unused"),
        accident="a year mistyped, and machines paid for eleven months",
    ),
    Case(
        "Of a template with a machine for each size Spot goes",
        (template("evals", 'capacity_types=("spot", "on-demand")', 'capacity_types=("on-demand",)'),),
        (hurts("offer-gone", "evals spot", "(suite=full) can't use Spot", "$0.90/h on demand"),),
        given=(
            imports("evals", "Variant"),
            template("evals", 'choices=("core", "full")', 'choices=("core", "full", "long", "all")'),
            more(
                "evals",
                "variants=tuple(Variant({'suite': suite}, (WorkerPool('judge', machine, Disk('pd-ssd', 100)),)) "
                "for suite, machine in (('full', 'n1-standard-16'), ('long', 'n1-standard-32')))",
            ),
        ),
        may=("run-cost", "arguments-changed"),
    ),
    Case(
        "Every cluster has to bear a label that none has",
        (stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      labels: [owner]\n"),),
        (stops("policy-violated", "labels", "label owner is missing", "change what breaks it"),),
        may=("policy-added",),
        never=("change `slipway:policy`",),
        accident="a rule that refused each deployment from then on",
    ),
    Case(
        "A living cluster may become another one, which counts for the next time that it is made",
        (
            h100(
                "alternatives:",
                "  - pools:",
                "      workers: { machine: a2-highgpu-8g, disk: { sizeGb: 500 }, replicas: { min: 2, max: 4 } }",
            ),
        ),
        (hurts("cluster-may-become", "h100", "can't be had the next time"),),
    ),
)
