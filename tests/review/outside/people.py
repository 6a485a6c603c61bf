"""Who may submit, and the accounts that jobs run as."""

from __future__ import annotations

from tests.review.case import Job, World, stack, template
from tests.review.outside.truth import OutsideCase, Source, halts, harms, tells

GROUP = "      - group:ml@acme.example\n"
ADA = "      - user:ada@acme.example\n"
NIGHTLY = "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n"
EVALS = '    service_account="evals@acme-ml.iam.gserviceaccount.com",\n'
NIGHT = World(
    jobs=(
        Job("evals-n1", "evals", "nightly", "spot", state="SUCCEEDED", hours=32),
        Job("evals-n2", "evals", "nightly", "spot", state="SUCCEEDED", hours=8),
    )
)
OWN = "  slipway:trainers:\n    tuners: { submitters: [group:research@acme.example] }\n\n"

CASES = (
    OutsideCase(
        "The trainer's account gets another name",
        "accounts",
        (stack("trainer: trainer", "trainer: training"),),
        Source(
            "Recreated accounts lose their grants",
            "https://github.com/hashicorp/terraform-provider-google/issues/6308",
            "2020-05-06",
        ),
        (
            halts(
                "New lora jobs run as another account, which can't read hf-token until somebody grants it that.",
                "everyone who submits lora",
                "their jobs can't read the secret",
            ),
        ),
    ),
    OutsideCase(
        "The group of all engineers is dropped from the submitters",
        "people",
        (stack(GROUP, ""),),
        Source(
            "A binding took a role from everybody else",
            "https://github.com/alphagov/govuk-infrastructure/pull/1389",
            "2024-07-11",
        ),
        (
            halts(
                "Everyone in group:ml who is not named otherwise can no longer submit anything.",
                "group:ml@acme.example",
                "submitting",
            ),
        ),
    ),
    OutsideCase(
        "One engineer is dropped while a job of hers runs",
        "people",
        (stack(ADA, ""),),
        Source("Somebody leaves", "https://github.com/binbashar/le-tf-infra-aws/pull/884", "2025-08-14"),
        (
            harms("ada can no longer submit unless group:ml has her.", "ada", "submitting in her own name"),
            tells("Her job tune-27b-x1 goes on.", "ada", "nothing"),
        ),
        World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),)),
    ),
    OutsideCase(
        "The account that submits every night is dropped",
        "people",
        (stack(NIGHTLY, ""),),
        Source("A user named in code is removed", "https://github.com/kortix-ai/suna/pull/6257", "2026-08-08"),
        (
            halts(
                "nightly can no longer submit: it sent evals-n1 and evals-n2 on the last two nights, and the next one "
                "fails.",
                "nightly@acme-ml.iam.gserviceaccount.com",
                "the nightly evaluation",
                "the first night after the deployment",
            ),
        ),
        NIGHT,
    ),
    OutsideCase(
        "The group's address has a typing error",
        "people",
        (stack("group:ml@acme.example", "group:ml@acme.exmaple"),),
        Source(
            "Members of a role are edited",
            "https://github.com/GoogleCloudPlatform/solution-acceleration-toolkit/pull/257",
            "2020-06-05",
        ),
        (
            halts(
                "group:ml@acme.example can no longer submit.",
                "group:ml@acme.example",
                "submitting",
            ),
            halts(
                "group:ml@acme.exmaple, of a domain that is not the company's, is let in, or the deployment fails "
                "where there is no such group.",
                "who deploys",
                "strangers among the submitters, or a deployment that fails",
            ),
        ),
    ),
    OutsideCase(
        "Everybody in the company may submit",
        "people",
        (stack(GROUP, "      - domain:acme.example\n"),),
        Source(
            "A rule against members that are everybody",
            "https://github.com/forseti-security/forseti-security/pull/1964",
            "2018-08-28",
        ),
        (
            halts(
                "Everyone with an account of acme.example may run any code as the trainer, and so read hf-token and "
                "acme-work.",
                "everyone at acme.example",
                "what the trainer reads is theirs to read",
            ),
        ),
    ),
    OutsideCase(
        "A contractor of another company may submit",
        "people",
        (stack(ADA, ADA + "      - user:kim@contractor.example\n"),),
        Source(
            "Sharing restricted to a domain",
            "https://github.com/google-marketing-solutions/crmint/pull/412",
            "2023-01-18",
        ),
        (
            harms(
                "kim@contractor.example may run jobs as the trainer, at the stack's expense, and read what it reads, "
                "hf-token among it.",
                "kim@contractor.example",
                "submitting, and the secrets of the trainer",
            ),
        ),
    ),
    OutsideCase(
        "The evaluations run as everybody's trainer",
        "accounts",
        (template("evals", EVALS, ""),),
        Source(
            "An account that the job may not act as",
            "https://github.com/googleapis/python-aiplatform/issues/1073",
            "2022-03-10",
        ),
        (
            halts(
                "evals runs as the trainer, which can't read judge-key unless somebody grants it that.",
                "everyone who submits evals, nightly too",
                "their jobs can't read the secret",
            ),
        ),
        NIGHT,
    ),
    OutsideCase(
        "The evaluations run as an account of another project",
        "accounts",
        (template("evals", "evals@acme-ml.iam", "evals@acme-eval.iam"),),
        Source(
            "A training job with the wrong account",
            "https://github.com/googleapis/python-aiplatform/issues/902",
            "2021-12-14",
        ),
        (
            halts(
                "Whoever submits evals must be allowed to act as evals@acme-eval, and Vertex AI's agent to make tokens "
                "for it; both are grants in another project.",
                "everyone who submits evals, nightly too",
                "their jobs are refused until both are granted",
            ),
            halts(
                "evals@acme-eval needs judge-key granted anew.",
                "everyone who submits evals, nightly too",
                "their jobs can't read the secret",
            ),
        ),
        NIGHT,
    ),
    OutsideCase(
        "Fine-tuning gets a trainer of its own, for the researchers",
        "accounts",
        (
            stack("  slipway:policy:\n", OWN + "  slipway:policy:\n"),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    trainer="tuners",\n'),
        ),
        Source(
            "Dedicated accounts instead of a shared one",
            "https://github.com/IABTechLab/uid2-operator/pull/2570",
            "2026-06-01",
        ),
        (
            halts(
                "Only group:research may submit lora; group:ml, ada and nightly no longer may.",
                "group:ml@acme.example, ada, nightly",
                "lora",
            ),
            halts(
                "The new account can't read hf-token until somebody grants it that.",
                "everyone who submits lora",
                "their jobs can't read the secret",
            ),
        ),
    ),
    OutsideCase(
        "Jobs on the H100 cluster run as Google's agent",
        "accounts",
        (stack("      retireWithin: 2w\n", "      retireWithin: 2w\n      serviceAccount: { custom: false }\n"),),
        Source("Permissions of the agent for custom code", "https://github.com/zenml-io/zenml/pull/750", "2022-07-05"),
        (
            halts(
                "lora's jobs can't run on h100 as the trainer any more, with which they read hf-token.",
                "everyone who submits lora with model 27b to the pool",
                "the pool or the secret, or the deployment",
            ),
        ),
        World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),)),
    ),
    OutsideCase(
        "The H100 cluster is peered with a network",
        "clusters",
        (
            stack(
                "      retireWithin: 2w\n",
                "      retireWithin: 2w\n      network: projects/123456789012/global/networks/training\n",
            ),
        ),
        Source(
            "A network that is not peered",
            "https://github.com/GoogleCloudPlatform/vertex-ai-samples/issues/2611",
            "2024-01-04",
        ),
        (
            halts(
                "A network can't be set on a living cluster: a new one is made, and the old one is paid for until "
                "ada's job has ended.",
                "who pays for h100",
                "$202 more an hour while both live",
            ),
            harms(
                "The network must be peered with Vertex AI's before, or the cluster can't be made.",
                "who deploys",
                "a deployment that fails",
            ),
        ),
        World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),)),
    ),
)
