"""Who may submit, and as which trainer: groups, domains, accounts that an edit adds or takes away."""

from tests.review.case import BUSY, Case, Edit, blocks, stack, template, warns
from tests.review.edits import ADA, BEN, LORA_TUNES, POLICY, TEAM, VISION, trainer
from tests.review.engine import ON_PROJECT, PROJECT, WORKSPACE, does
from tests.slipway.reviewing.builders import step


def added(member: str) -> Edit:
    return stack(f"      - {ADA}\n", f"      - {ADA}\n      - {member}\n")


CASES = (
    Case(
        "The program takes a role from submitters who are still listed",
        finds=(warns("access-lost", "", "ml@acme.example"),),
        steps=does(
            step(
                "delete",
                ON_PROJECT,
                "submit",
                old={"project": PROJECT, "member": TEAM, "role": "roles/aiplatform.user"},
                parent=WORKSPACE,
            )
        ),
    ),
    Case(
        "A person of a contractor's domain may submit",
        (added("user:kim@contractor.example"),),
        (blocks("access-gained", "workspace", "kim@contractor.example"),),
    ),
    Case(
        "A group of a new team may submit as a trainer, whose secrets and another team's budget it gets",
        (stack(f"        - {TEAM}\n\n", f"        - {TEAM}\n        - group:students@acme.example\n\n"),),
        (blocks("access-gained", "tuning", "students@acme.example"),),
        given=(
            *(trainer(TEAM), LORA_TUNES, stack(POLICY, VISION.replace("clusters: [cpu]", "budget: 900") + POLICY)),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
    ),
    Case(
        "A person who has a job running leaves the submitters",
        (stack("      - user:ada@acme.example\n", ""), stack("ada: 100, ", "")),
        (blocks("access-lost", "workspace", "ada@acme.example", "tune-27b-x1"),),
        world=BUSY,
        given=(
            added("domain:partner.example"),
            stack(POLICY, f"  slipway:budget: {{ users: {{ ada: 100, bo: 5 }} }}\n{POLICY}"),
        ),
    ),
    Case(
        "A whole domain may submit, but as a trainer that a group has alone",
        (added("domain:acme.example"),),
        (blocks("access-gained", "workspace", "acme.example"),),
        given=(trainer("group:tuners@acme.example"), LORA_TUNES),
    ),
    Case(
        "The account of the nightly search leaves the submitters",
        (stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),),
        (blocks("access-lost", "workspace", "nightly@"),),
        world=BUSY,
    ),
    Case(
        "A team goes whose label a template keeps: its jobs have no limit of their own any more",
        (stack(VISION.replace("clusters: [cpu]", "budget: 900"), ""),),
        (blocks("allowance-loosened", "teams.vision"), warns("access-lost", "workspace")),
        given=(
            stack(
                POLICY,
                "  slipway:budget: { stack: 80000, enforce: true }\n"
                + VISION.replace("clusters: [cpu]", "budget: 900")
                + POLICY,
            ),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
        may=("stack-warning",),
    ),
    Case(
        "One who may submit as a trainer alone leaves it, and the domain submits as everybody",
        (stack(f"        - {BEN}\n        - {ADA}\n", f"        - {ADA}\n"),),
        (warns("access-lost", "tuning", "ben@acme.example"),),
        given=(stack(f"      - {TEAM}\n", "      - domain:acme.example\n"), trainer(BEN, ADA), LORA_TUNES),
    ),
)
