"""Who may submit, and as which trainer: groups, domains, accounts that an edit adds or takes away."""

from tests.review.case import BUSY, Case, Edit, hurts, stack, stops, template
from tests.review.edits import ADA, BEN, LORA_TUNES, POLICY, TEAM, VISION, trainer
from tests.review.engine import ON_PROJECT, PROJECT, WORKSPACE, does
from tests.slipway.reviewing.builders import step


def added(member: str) -> Edit:
    return stack(f"      - {ADA}\n", f"      - {ADA}\n      - {member}\n")


CASES = (
    Case(
        "The program takes a role from submitters who are still listed",
        names=(stops("submitter-gone", TEAM, "stay a submitter", "can no longer submit jobs"),),
        steps=does(
            step(
                "delete",
                ON_PROJECT,
                "submit",
                old={"project": PROJECT, "member": TEAM, "role": "roles/aiplatform.user"},
                parent=WORKSPACE,
            )
        ),
        accident="a grant removed that was thought unused",
    ),
    Case(
        "A person of a contractor's domain may submit",
        (added("user:kim@contractor.example"),),
        (hurts("submitter-added", "user:kim@contractor.example", "read results", "code of theirs can delete results"),),
        accident="access for a contractor, never taken back",
    ),
    Case(
        "A group of a new team may submit as a trainer, whose secrets and another team's budget it gets",
        (stack(f"        - {TEAM}\n\n", f"        - {TEAM}\n        - group:students@acme.example\n\n"),),
        (stops(*("submitter-added", "group:students@acme.example", "as trainer `tuning`")),),
        given=(
            *(trainer(TEAM), LORA_TUNES, stack(POLICY, VISION.replace("clusters: [cpu]", "budget: 900") + POLICY)),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
        never=("once that account may",),
        accident="a token in the hands of a class",
    ),
    Case(
        "A person who has a job running leaves the submitters",
        (stack("      - user:ada@acme.example\n", ""), stack("ada: 100, ", "")),
        (stops("submitter-gone", ADA, "tune-27b-x1", "except what a listed group or domain may"),),
        world=BUSY,
        given=(
            added("domain:partner.example"),
            stack(POLICY, f"  slipway:budget: {{ users: {{ ada: 100, bo: 5 }} }}\n{POLICY}"),
        ),
        never=("not known: which", "partner", "may spend", "else they"),
        accident="a person shut out of the work of a night",
    ),
    Case(
        "A whole domain may submit, but as a trainer that a group has alone",
        (added("domain:acme.example"),),
        (stops("domain-access", "domain:acme.example", "may submit as the workspace's trainer, cancel"),),
        given=(trainer("group:tuners@acme.example"), LORA_TUNES),
        accident="a group replaced by everybody",
    ),
    Case(
        "The account of the nightly search leaves the submitters",
        (stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),),
        (stops("submitter-gone", "serviceAccount:nightly@", "digits-night"),),
        world=BUSY,
        accident="a robot that nobody thought of",
    ),
    Case(
        "A team goes whose label a template keeps: its jobs have no limit of their own any more",
        (stack(VISION.replace("clusters: [cpu]", "budget: 900"), ""),),
        (stops("submitter-gone", "vision"), hurts("budget-changed", "teams.vision", "no limit of its own any more")),
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
        "One who may submit as a trainer alone leaves it, and the domain submits as everybody",
        (stack(f"        - {BEN}\n        - {ADA}\n", f"        - {ADA}\n"),),
        (stops("submitter-gone", BEN, "except what a listed group or domain may"),),
        given=(stack(f"      - {TEAM}\n", "      - domain:acme.example\n"), trainer(BEN, ADA), LORA_TUNES),
    ),
)
