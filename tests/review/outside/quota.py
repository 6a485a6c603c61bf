"""What a stack is held to: quota and rules of its own. With nothing running it costs $204.63 an hour: $202.28 for two
a3-highgpu-8g and $2.35 for cpu."""

from __future__ import annotations

from tests.review.case import Job, World, stack
from tests.review.outside.truth import OutsideCase, Source, halts, harms, tells

QUOTA = "slipway:quota: { mode: enforce, contactEmail: platform@acme.example }"
REGIONS = "      regions: [us-central1]\n"
TRAINER = "    trainer: trainer\n"

CASES = (
    OutsideCase(
        "Missing quota is told, and no longer stops a deployment",
        "quota",
        (stack(QUOTA, QUOTA.replace("enforce", "warn")),),
        Source(
            "A default of warn instead of deny",
            "https://github.com/elastisys/compliantkubernetes-apps/issues/1326",
            "2022-12-08",
        ),
        (
            harms(
                "Where quota is missing a deployment goes on and fails half-way, when the cluster is made.",
                "who deploys",
                "being stopped before anything is changed",
            ),
        ),
    ),
    OutsideCase(
        "Missing quota is asked for",
        "quota",
        (stack(QUOTA, QUOTA.replace("enforce", "request")),),
        Source("Quota preferences in code", "https://github.com/alphagov/govuk-infrastructure/pull/4682", "2026-08-21"),
        (
            tells(
                "Deployments ask Google for missing quota, in the name of platform@acme.example, and wait for the "
                "grant before they make a cluster; such a request can't be deleted again.",
                "who deploys, and platform@acme.example",
                "requests that are made without a further question",
            ),
        ),
    ),
    OutsideCase(
        "Missing quota is asked for in nobody's name",
        "quota",
        (stack(QUOTA, "slipway:quota: { mode: request }"),),
        Source("Quota by request, and who asks", "https://github.com/crosscloudci/crosscloudci/issues/8", "2018-02-13"),
        (
            halts(
                "An increase of quota needs the address of somebody whom Google can ask, and there is none any more.",
                "who deploys",
                "requests that can't be made, or a deployment that is refused",
            ),
        ),
    ),
    OutsideCase(
        "All pools at their maximum must fit into the quota",
        "quota",
        (stack(QUOTA, QUOTA.replace("enforce,", "enforce, strict: true,")),),
        Source("No quota for what was asked", "https://github.com/FIRST-Tech-Challenge/fmltc/issues/303", "2023-02-26"),
        (
            halts(
                "h100 at its maximum needs 32 H100 GPUs and the quota is 24: every deployment is refused until it is "
                "raised.",
                "who deploys",
                "deployments",
            ),
        ),
        World(limits={"nvidia_h100_gpus": 24}),
    ),
    OutsideCase(
        "Regions are no longer limited",
        "policy",
        (stack(REGIONS, ""),),
        Source(
            "A guardrail is turned off",
            "https://github.com/ministryofjustice/modernisation-platform-environments/pull/18539",
            "2026-08-25",
        ),
        (
            halts(
                "Clusters and jobs may be in any region from then on; nothing moves by this change.",
                "who answers for where data are",
                "a rule that stopped deployments",
            ),
        ),
    ),
    OutsideCase(
        "The rule of regions only warns",
        "policy",
        (
            stack(REGIONS, ""),
            stack("      longestTimeout: 48\n", "      longestTimeout: 48\n      regions: [us-central1]\n"),
        ),
        Source(
            "Enforcement becomes a dry run",
            "https://github.com/openshift-4-compliance/openshift-4-compliance-automation/pull/87",
            "2021-05-30",
        ),
        (
            halts(
                "A cluster or job in another region is told and no longer refused.",
                "who answers for where data are",
                "a rule that stopped deployments",
            ),
        ),
    ),
    OutsideCase(
        "Anybody who may submit may run unreviewed code",
        "policy",
        (stack("      reviewedCodeOnly: true\n", ""), stack(TRAINER, TRAINER + "    code: true\n")),
        Source(
            "A warning where a stop was needed", "https://github.com/IgorGanapolsky/ThumbGate/pull/2849", "2026-07-10"
        ),
        (
            halts(
                "The rule against unreviewed code goes with the setting that it forbade: submit --code may run a "
                "working tree as the trainer, on templates that allow it; none does yet.",
                "who answers for hf-token and acme-work",
                "the review of what runs",
            ),
        ),
    ),
    OutsideCase(
        "With nothing running the stack may cost $150 an hour",
        "policy",
        (stack(REGIONS, REGIONS + "      idleCost: 150\n"),),
        Source("A limit for what an hour costs", "https://github.com/skypilot-org/skypilot/issues/8766", "2026-01-31"),
        (
            halts(
                "It costs $204.63 an hour: the rule refuses this very deployment and each one after it.",
                "who deploys",
                "deployments",
            ),
        ),
    ),
    OutsideCase(
        "With nothing running the stack may cost $250 an hour",
        "policy",
        (stack(REGIONS, REGIONS + "      idleCost: 250\n"),),
        Source(
            "Budget alerts after GPUs ran all night",
            "https://github.com/Cor-Incorporated/Grift/issues/397",
            "2026-03-29",
        ),
        (tells("It costs $204.63 an hour, so that nothing is refused today.", "who deploys", "a new limit, kept"),),
        World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),)),
    ),
    OutsideCase(
        "Each cluster must have a cost centre",
        "policy",
        (stack(REGIONS, REGIONS + "      labels: [team, cost-center]\n"),),
        Source("Required labels", "https://github.com/kubermatic/kubermatic/issues/15082", "2025-09-26"),
        (
            halts(
                "cpu has no label cost-center: the deployment is refused, and giving it one means a new cluster.",
                "who deploys",
                "deployments",
            ),
        ),
    ),
    OutsideCase(
        "Jobs must end after twelve hours",
        "policy",
        (stack(REGIONS, REGIONS + "      longestTimeout: 12\n"),),
        Source("GPU jobs end after a day", "https://github.com/ArjunaCluster/ArjunaUsers/issues/50", "2021-09-11"),
        (
            halts(
                "lora may run for 24 hours: the mandatory rule refuses the deployment until the template says 12 or "
                "less.",
                "who deploys",
                "deployments",
            ),
        ),
    ),
    OutsideCase(
        "Images must be pinned by digest",
        "policy",
        (stack(REGIONS, REGIONS + "      imagesByDigest: true\n"),),
        Source("A tag is not a digest", "https://github.com/kubeflow/kale/pull/328", "2021-04-09"),
        (
            halts(
                "lora, digits and tune name their images by tag: the deployment is refused; evals alone has a digest.",
                "who deploys",
                "deployments",
            ),
        ),
    ),
    OutsideCase(
        "Nobody may submit who is not named",
        "policy",
        (stack(REGIONS, REGIONS + "      nothingPublic: true\n"),),
        Source(
            "Public members are looked for",
            "https://github.com/aquasecurity/cloud-security-remediation-guides/pull/700",
            "2024-05-28",
        ),
        (tells("No submitter is a domain or everybody, so that nothing is refused.", "nobody", "a new rule, kept"),),
    ),
)
