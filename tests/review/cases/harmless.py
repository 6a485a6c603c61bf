"""Harmless changes of the stack and the program: other spellings, the engine's usual steps, and time."""

from slipway.deploying.engine.preview import Preview
from tests.review.case import BUSY, LARGE, QUIET, Case, Edit, Job, World, h100, silent, stack, tells, template
from tests.review.edits import (
    ADA,
    ALLOW,
    DAY_OF_CLAIMS,
    LIST,
    LORA_REQUIREMENTS,
    MONITORING_VIEWER,
    OPS,
    OTHER_MACHINES,
    PIPELINE,
    POLICY,
    PRINTS,
    SAVES_CHECKPOINT,
    TASK,
    TEAM,
    TEAMS,
    TO_NIGHT_LABELS,
    WEEK,
    makes,
    trainer,
)
from tests.review.engine import BUCKET, ON_PROJECT, SQL, WORK, WORKSPACE, does, edits_work, grants
from tests.slipway.reviewing.builders import step

CASES = (
    silent("The engine makes a cluster as its stack file says", steps=makes(), world=BUSY),
    silent(
        "The engine takes over a cluster that somebody renamed by hand, and leaves its labels",
        steps=makes("import", displayName="renamed by hand", labels={"goog-managed": "y"}),
    ),
    Case(
        "A checkpoint is saved by another name of the same place",
        (Edit(TASK, 'save(OUTPUT / "ckpt.pt")', 'save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))'),),
        may=("code-changed",),
        given=(SAVES_CHECKPOINT,),
    ),
    Case(
        "A torch of the same minor version",
        (Edit(LORA_REQUIREMENTS, "torch==2.4.1", "torch==2.4.0"),),
        may=("requirements-changed",),
        never=("end first",),
    ),
    Case(
        "A variable of a function has another name, and imports another order",
        (
            Edit(TASK, "import json\nimport os\n", "import os\nimport json\n"),
            Edit(TASK, "    loss = EVERY\n    print(loss)\n", "    value = EVERY\n    print(value)\n"),
        ),
        may=("code-changed",),
        given=(
            Edit(TASK, "EVERY = 20 ", "import json\nimport os\n\nEVERY = 20 "),
            Edit(TASK, PRINTS, "    loss = EVERY\n    print(loss)\n"),
        ),
    ),
    Case(
        "The bucket is protected from now on",
        recorded="protect",
        silent=True,
    ),
    silent(
        "Nothing changes while the machines are in another region",
        QUIET,
        world=World(jobs=(LARGE,), made_as={"h100": 1}, limits={"nvidia_h100_gpus": 24}),
        given=(LIST, ALLOW),
    ),
    silent("A comment of the stack file", stack("# The stack that the corpus edits:", "# Ours:")),
    silent("Templates in another order", stack("    - lora\n    - digits\n", "    - digits\n    - lora\n")),
    silent("A text of the stack file stands in quotes", stack("trainer: trainer\n", 'trainer: "trainer"\n')),
    silent(
        "Submitters stand in another order",
        stack(
            "      - group:ml@acme.example\n      - user:ada@acme.example\n",
            "      - user:ada@acme.example\n      - group:ml@acme.example\n",
        ),
        accident="a list of members that was made anew for its order",
    ),
    silent(
        "A pool's entry is written over several lines",
        stack(
            "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n",
            "        head:\n          replicas: 2\n          machine: n1-standard-4\n"
            "          disk: { sizeGb: 100, type: pd-ssd }\n",
        ),
        accident="a formatter whose edit was taken for another cluster",
    ),
    silent(
        "A key for a machine is written as an entry",
        stack("small: n1-standard-8", "small: { machine: n1-standard-8 }"),
        given=(
            stack("  slipway:policy:\n", "  slipway:machines: { small: n1-standard-8 }\n  slipway:policy:\n"),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
    ),
    silent("Another person is asked about quota", stack("platform@acme.example", "machines@acme.example")),
    silent("A default is not written down any more", stack("      replacement: rollover\n", "")),
    silent(
        "A cluster becomes the team's for which all jobs count by themselves",
        stack('submitters: ["group:ml@acme.example"] }', 'submitters: ["group:ml@acme.example"], clusters: [cpu] }'),
        given=(
            stack(
                "  slipway:policy:\n",
                '  slipway:teams:\n    ml: { submitters: ["group:ml@acme.example"] }\n\n  slipway:policy:\n',
            ),
        ),
    ),
    silent(
        "The usual disk of a machine is left to be the usual one",
        stack("disk: { type: pd-ssd, sizeGb: 500 }", "disk: { sizeGb: 500 }"),
        accident="a default that was taken for a change",
    ),
    silent(
        "A stack file of another stack",
        Edit("stacks/Pulumi.trial.yaml", "", "config: { gcp:project: acme-trial, gcp:region: us-central1 }\n"),
    ),
    silent(
        "Pages, tests, and other folders of the repository",
        files=("README.md", "docs/review.md", "tests/test_stacks.py", "../web/Makefile", "../web/requirements.txt"),
    ),
    silent(
        "The provider's new version computes a field otherwise",
        steps=does(step("update", BUCKET, "work", old=WORK, new=WORK, diffs=["effectiveLabels"], parent=WORKSPACE)),
        accident="a provider's upgrade that changed every resource in name only",
    ),
    silent(
        "Labels of a cluster in another order, between quotes",
        stack(
            "labels: { team: platform, cost-center: research }", 'labels: { cost-center: "research", team: "platform" }'
        ),
    ),
    silent("A span in hours, which was in days", stack("retireWithin: 7d", "retireWithin: 168h")),
    silent(
        "Two rules of policy in another order",
        stack(
            "      regions: [us-central1]\n      reviewedCodeOnly: true\n",
            "      reviewedCodeOnly: true\n      regions: [us-central1]\n",
        ),
    ),
    silent(
        "A field says nothing where it was left out",
        steps=does(step("update", BUCKET, "work", old=WORK, new={**WORK, "labels": {}}, diffs=["labels"])),
    ),
    Case(
        "A database's certificates, which the cloud rotates by itself",
        steps=does(
            step(
                "update",
                SQL,
                "runs",
                old={"name": "runs", "region": "us-central1"},
                new={"name": "runs", "region": "us-central1"},
                diffs=["serverCaCerts", "selfLink"],
            )
        ),
    ),
    silent(
        "Nothing changes while an old generation still waits for its job",
        world=World(jobs=(LARGE, Job("old-27b", parameters={"model": "27b"}, earlier=True)), earlier=TO_NIGHT_LABELS),
    ),
    silent(
        "Nothing changes while the quota has been short for long",
        QUIET,
        world=World(jobs=(LARGE,), limits={"nvidia_h100_gpus": 24}),
    ),
    silent(
        "Lifecycle rules in another order",
        steps=edits_work({"lifecycleRules": [DAY_OF_CLAIMS, WEEK]}, lifecycleRules=[WEEK, DAY_OF_CLAIMS]),
        accident="a list that is compared by position",
    ),
    silent(
        "A grant is declared under another logical name, and the old one stays in the cloud",
        steps=does(
            step(
                "delete",
                ON_PROJECT,
                "ops",
                old={"project": "acme-ml", "member": OPS, "role": MONITORING_VIEWER},
                retained=True,
            ),
            grants("create", ON_PROJECT, OPS, MONITORING_VIEWER),
        ),
    ),
    silent(
        "The longest time of sessions in minutes",
        stack("max: 8h", "max: 480m"),
        given=(stack("  slipway:policy:\n", "  slipway:sessions: { max: 8h }\n  slipway:policy:\n"),),
    ),
    silent(
        "Pools of sessions in another order",
        stack("pools: [cpu/workers, cpu/head]", "pools: [cpu/head, cpu/workers]"),
        given=(
            stack("  slipway:policy:\n", "  slipway:sessions: { pools: [cpu/workers, cpu/head] }\n  slipway:policy:\n"),
        ),
    ),
    silent(
        "The members of a trainer in another order",
        stack(f"        - {TEAM}\n        - {ADA}\n", f"        - {ADA}\n        - {TEAM}\n"),
        given=(trainer(TEAM, ADA),),
    ),
    silent("An idle preview of the engine", preview=Preview()),
    silent(
        "Shares of teams stand in another order",
        stack("{ search: 2, demand: 2 }", "{ demand: 2, search: 2 }"),
        given=(*TEAMS, stack(POLICY, "  slipway:shares: { cpu: { search: 2, demand: 2 } }\n" + POLICY)),
    ),
    Case(
        "A team goes, and its group stays under its name",
        (
            stack("    vision: { submitters: [group:vision@acme.example] }\n", "    sight: { submitters: [] }\n"),
            stack(f"      - {TEAM}\n", f"      - {TEAM}\n      - group:vision@acme.example\n"),
        ),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n    vision: { submitters: [group:vision@acme.example] }\n\n  slipway:policy:\n",
            ),
        ),
        never=("--team vision",),
    ),
    silent(
        "Docstrings with grave words",
        Edit(TASK, '"""`python -m lora.task`"""\n', '"""Trains: `python -m lora.task`."""\n'),
        Edit(TASK, 'None:\n    print("trained", EVERY)', 'None:\n    """Load it."""\n    print("trained", EVERY)'),
        accident="a review that nobody read, as it warned of docstrings",
    ),
    silent(
        "A pool begins with its minimum, as it did without saying so",
        stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 4, initial: 2 }"),
    ),
    Case(
        "The alternatives of a cluster that is there go",
        (stack(f"      {OTHER_MACHINES}\n", ""),),
        (tells("cluster-protection", "h100", "made of its own machines alone"),),
        given=(h100(OTHER_MACHINES),),
    ),
    silent("A quarter of an hour is what a deployment waits anyway", h100("createWithin: 15m")),
    silent("The cluster's name is what the console shows anyway", h100("displayName: h100")),
    silent("Jobs name their account anyway", h100("serviceAccount: { custom: true }")),
    silent(
        "Labels in another order",
        stack("labels: { team: platform, cost-center: research }", "labels: { cost-center: research, team: platform }"),
    ),
    silent(
        "A rule's list in another order",
        stack("labels: [team, cost-center]", "labels: [cost-center, team]"),
        given=(stack("    advisory:\n", "    advisory:\n      labels: [team, cost-center]\n"),),
        accident="a rule that was told as stricter",
    ),
    silent("A rule's list with an entry twice", stack("regions: [us-central1]", "regions: [us-central1, us-central1]")),
    silent(
        "Quota is enforced anyway",
        stack("  slipway:quota: { mode: enforce, contactEmail: platform@acme.example }\n\n", ""),
    ),
    silent(
        "Requirements in another order, with a comment",
        Edit(
            LORA_REQUIREMENTS,
            "torch==2.4.1\npeft==0.13.0\n",
            "# for adapters\npeft==0.13.0\ntorch==2.4.1 # as the image\n",
        ),
    ),
    silent(
        "A comment about the seed and the learning rate", Edit(TASK, "EVERY = 20 ", "# seed, lr: 1e-4\nEVERY = 20 ")
    ),
    silent(
        "A page and a test",
        Edit("docs/new.md", "", "# New\n"),
        Edit("tests/test_new.py", "", "def test_it() -> None:\n    assert True\n"),
    ),
    Case(
        "A cluster's beginning, which has passed, is another one that has",
        (stack("from: 2026-01-10", "from: 2026-02-10"),),
        given=(h100("from: 2026-01-10"),),
        world=BUSY,
    ),
    silent("Nothing is edited, and a season has still a month", QUIET, given=(h100("until: 2026-12-20"),)),
    silent(
        "Nothing is edited while a cluster that is to come in a month lacks quota",
        QUIET,
        given=(h100("from: 2026-12-20"),),
        world=World(limits={"nvidia_h100_gpus": 4}),
    ),
    Case(
        "A pipeline's file gets a description",
        (Edit(PIPELINE[0].file, '{"name": "train"}', '{"description": "each night", "name": "train"}'),),
        given=PIPELINE,
        silent=True,
    ),
    Case(
        "A cluster that lives gets a beginning in the past",
        (h100("from: 2026-11-01"),),
        world=BUSY,
    ),
    Case(
        "A cluster that lives has no beginning any more",
        (stack("      from: 2026-01-10\n", ""),),
        given=(h100("from: 2026-01-10"),),
        world=BUSY,
        never=("at once",),
    ),
    silent(
        "Writes the pool of h100 over several lines and sorts its keys, for readable diffs",
        stack(
            (
                "      pools:\n"
                "        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: "
                "{ min: 2, max: 4 } }\n"
                "      replacement: rollover\n"
                "      retireWithin: 2w\n"
                "      labels: { team: platform, cost-center: research }\n"
            ),
            (
                "      labels:\n"
                "        cost-center: research\n"
                "        team: platform\n"
                "      retireWithin: 14d\n"
                "      pools:\n"
                "        workers:\n"
                "          replicas: { max: 4, min: 2 }\n"
                "          machine: a3-highgpu-8g\n"
                "          disk:\n"
                "            sizeGb: 500\n"
                "            type: pd-ssd\n"
            ),
        ),
    ),
    silent(
        "Sorts the submitters and says who they are",
        stack(
            (
                "      - group:ml@acme.example\n"
                "      - user:ada@acme.example\n"
                "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n"
            ),
            (
                "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com # the cron of platform\n"
                "      - user:ada@acme.example # from the university, not in the group\n"
                "      - group:ml@acme.example\n"
            ),
        ),
    ),
)
