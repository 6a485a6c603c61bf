"""Changes that change nothing: comments, formatting, order, defaults spelled out, equal values in other words."""

from __future__ import annotations

from tests.review.case import CALM, Edit, Job, World, stack, template
from tests.review.outside.truth import NOTHING, OutsideCase, Source

TUNE = World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),))
BUSY = World(
    jobs=(
        Job("digits-k7", "digits", "grace", hours=0.5),
        Job("tune-9b-s2", capacity_type="spot", hours=6),
        Job("evals-n2", "evals", "nightly", "spot", state="SUCCEEDED", hours=8),
    )
)


def harmless(title: str, edits: tuple[Edit, ...], source: Source, world: World = CALM) -> OutsideCase:
    return OutsideCase(title, "harmless", edits, source, NOTHING, world)


CASES = (
    harmless(
        "A comment of the stack file is reworded",
        (stack("CPU machines for everything else.", "CPU machines for the rest."),),
        Source(
            "A warning is added to documentation",
            "https://github.com/hashicorp/terraform-provider-google/pull/1735",
            "2018-07-06",
        ),
    ),
    harmless(
        "A comment warns of deleting the H100 cluster",
        (stack("    h100:\n", "    # Never delete h100 by hand: such machines are hard to get back.\n    h100:\n"),),
        Source(
            "Users are told how not to lose their keys",
            "https://github.com/hashicorp/terraform-provider-google/pull/1896",
            "2018-08-17",
        ),
        TUNE,
    ),
    harmless(
        "A typing error in a comment of the training code",
        (Edit("jobs/lora/task.py", "# Every step is seeded", "# Each step is seeded"),),
        Source("Fix comment typos", "https://github.com/hashicorp/terraform/pull/1668", "2015-04-24"),
        BUSY,
    ),
    harmless(
        "Empty lines are restored in the stack file",
        (stack("  slipway:templates:\n", "\n\n  slipway:templates:\n"),),
        Source("Lost empty lines", "https://github.com/cloud-gov/terraform-provision/pull/1699", "2024-07-18"),
    ),
    harmless(
        "White space is trimmed within braces",
        (
            stack(
                "labels: { team: platform, cost-center: research }", "labels: {team: platform, cost-center: research}"
            ),
        ),
        Source(
            "White space as the formatter wants it",
            "https://github.com/ministryofjustice/modernisation-platform-terraform-baselines/pull/6",
            "2020-10-09",
        ),
        TUNE,
    ),
    harmless(
        "The labels of the H100 cluster stand on lines of their own",
        (
            stack(
                "      labels: { team: platform, cost-center: research }\n",
                "      labels:\n        team: platform\n        cost-center: research\n",
            ),
        ),
        Source("The formatter was run", "https://github.com/gitpod-io/gitpod/pull/2576", "2020-12-17"),
        TUNE,
    ),
    harmless(
        "The labels of the H100 cluster are sorted",
        (stack("{ team: platform, cost-center: research }", "{ cost-center: research, team: platform }"),),
        Source("Mappings have no order", "https://github.com/hashicorp/terraform/issues/31870", "2022-09-26"),
        TUNE,
    ),
    harmless(
        "The pool of the H100 cluster is written out",
        (
            stack(
                "        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, "
                "replicas: { min: 2, max: 4 } }\n",
                "        workers:\n"
                "          replicas: { max: 4, min: 2 }\n"
                "          machine: a3-highgpu-8g\n"
                "          disk: { sizeGb: 500, type: pd-ssd }\n",
            ),
        ),
        Source("Order without meaning", "https://github.com/homeport/dyff/issues/669", "2026-06-15"),
        TUNE,
    ),
    harmless(
        "The entry of the H100 cluster begins with its lifetime",
        (
            stack("    h100:\n", "    h100:\n      retireWithin: 2w\n"),
            stack("      replacement: rollover\n      retireWithin: 2w\n", "      replacement: rollover\n"),
        ),
        Source("A fixed order of keys", "https://github.com/wikimedia/jsonschema-tools/pull/29", "2021-02-19"),
        TUNE,
    ),
    harmless(
        "The submitters are sorted",
        (
            stack("      - group:ml@acme.example\n", ""),
            stack(
                "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n",
                "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n      - group:ml@acme.example\n",
            ),
        ),
        Source(
            "Functions that sort what they are given",
            "https://github.com/hashicorp/terraform/issues/26010",
            "2020-08-26",
        ),
        BUSY,
    ),
    harmless(
        "The templates are sorted",
        (
            stack(
                "    - lora\n    - digits\n    - tune\n    - evals\n",
                "    - digits\n    - evals\n    - lora\n    - tune\n",
            ),
        ),
        Source("Keys of a list, sorted", "https://github.com/octodns/octodns/pull/154", "2017-11-28"),
        BUSY,
    ),
    harmless(
        "The region stands in quotes",
        (stack("gcp:region: us-central1", 'gcp:region: "us-central1"'),),
        Source("Code formatting in a file", "https://github.com/GSA/notifications-admin/pull/1852", "2024-08-15"),
        BUSY,
    ),
    harmless(
        "Two weeks are fourteen days",
        (stack("retireWithin: 2w", "retireWithin: 14d"),),
        Source(
            "A duration in another format",
            "https://github.com/GoogleCloudPlatform/magic-modules/pull/17316",
            "2026-04-28",
        ),
        TUNE,
    ),
    harmless(
        "The CPU cluster says how it is replaced, as by default",
        (
            stack(
                "      retireWithin: 7d\n", "      replacement: rollover\n      generation: 1\n      retireWithin: 7d\n"
            ),
        ),
        Source(
            "A default is exposed, its value kept",
            "https://github.com/terraform-google-modules/terraform-google-project-factory/pull/545",
            "2021-02-15",
        ),
        BUSY,
    ),
    harmless(
        "The H100 cluster says its display name, which is its name",
        (stack("    h100:\n", "    h100:\n      displayName: h100\n"),),
        Source(
            "Persistent resources come to another tool",
            "https://github.com/GoogleCloudPlatform/k8s-config-connector/issues/11349",
            "2026-07-06",
        ),
        TUNE,
    ),
    harmless(
        "The workspace says that code is not taken from working trees, as by default",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    code: false\n"),),
        Source(
            "An import sets what is the default",
            "https://github.com/hashicorp/terraform-provider-google/pull/1223",
            "2018-03-19",
        ),
    ),
    harmless(
        "A day is 24 hours of 3,600 seconds",
        (template("lora", "timeout_s=86_400", "timeout_s=24 * 3600"),),
        Source("A number without a name", "https://github.com/icebound777/PMR-SeedGenerator/pull/50", "2022-08-28"),
        BUSY,
    ),
    harmless(
        "The disk of the H100 machines gets a name in its template",
        (
            template("lora", "TEMPLATE = JobTemplate(", 'LARGE = Disk("pd-ssd", 500)\n\nTEMPLATE = JobTemplate('),
            template("lora", '                    Disk("pd-ssd", 500),\n', "                    LARGE,\n"),
        ),
        Source(
            "Numbers become constants",
            "https://github.com/ZeroSumQuant/claude-conversation-extractor/pull/37",
            "2025-11-10",
        ),
        TUNE,
    ),
    harmless(
        "Its capacity types stand on lines of their own",
        (
            template(
                "digits",
                '    capacity_types=("pool", "spot", "on-demand"),\n',
                '    capacity_types=(\n        "pool",\n        "spot",\n        "on-demand",\n    ),\n',
            ),
        ),
        Source("All files formatted", "https://github.com/duartegroup/mlp-train/pull/85", "2024-02-15"),
        BUSY,
    ),
    harmless(
        "The help of a parameter is clearer",
        (template("lora", 'help="rank of the adapters"', 'help="rank of the adapters; 16 is enough for most"'),),
        Source("A description that was not clear", "https://github.com/stategraph/stategraph/pull/248", "2025-01-20"),
        BUSY,
    ),
    harmless(
        "The docstring of the search says more",
        (
            template(
                "digits", '"""digits: a search that is spread', '"""digits: a search of hyperparameters that is spread'
            ),
        ),
        Source("Read me, with white space", "https://github.com/hashicorp/terraform/pull/18750", "2018-08-28"),
    ),
    harmless(
        "The training code gets a hint of a type",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY: int = 20 "),),
        Source("Hints of types", "https://github.com/public-apis/public-apis/pull/6039", "2026-05-08"),
        BUSY,
    ),
    harmless(
        "The training code is formatted by another tool",
        (
            Edit(
                "jobs/digits/task.py",
                '    print("trained", EVERY)\n',
                '    print(\n        "trained",\n        EVERY,\n    )\n',
            ),
        ),
        Source("The whole code formatted anew", "https://github.com/PacketChat/MonkeyBadge/pull/50", "2023-12-02"),
        BUSY,
    ),
    harmless(
        "The packages of the training are sorted",
        (Edit("jobs/lora/requirements.txt", "torch==2.4.1\npeft==0.13.0", "peft==0.13.0\ntorch==2.4.1"),),
        Source("Requirements in order", "https://github.com/opsdroid/opsdroid/pull/927", "2019-05-09"),
        BUSY,
    ),
)
