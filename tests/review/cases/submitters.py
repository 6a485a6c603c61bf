"""Who may submit, and as which trainer: groups, domains, accounts that an edit adds or takes away."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, stack, stops, tells, template
from tests.review.edits import ADA, BEN, LORA_TUNES, NIGHTLY, POLICY, TEAM, VISION, trainer, workspace
from tests.review.engine import ON_PROJECT, PROJECT, WORKSPACE, does
from tests.slipway.reviewing.builders import step


def added(member: str) -> Edit:
    return stack(f"      - {ADA}\n", f"      - {ADA}\n      - {member}\n")


EYES = stack("    tuning:\n", "    eyes: { submitters: [group:vision@acme.example] }\n    tuning:\n")
"""Another trainer, as which another group submits."""

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
        "A group of the own domain's branch may submit",
        (added("group:ml@eu.acme.example"),),
        (tells("submitter-added", "group:ml@eu.acme.example"),),
    ),
    Case(
        "A person may submit who could not",
        (stack("      - user:ada@acme.example\n", "      - user:ada@acme.example\n      - user:ben@acme.example\n"),),
        (tells("submitter-added", "user:ben@acme.example"),),
        world=BUSY,
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
        "A newcomer may submit a template whose trainer lists a group only as one of its members",
        (added("user:mira@acme.example"),),
        (tells("submitter-added", "user:mira@acme.example", "may submit as the workspace's trainer, cancel"),),
        given=(trainer("group:tuners@acme.example"), LORA_TUNES),
    ),
    Case(
        "The account of the nightly search leaves the submitters",
        (stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),),
        (stops("submitter-gone", "serviceAccount:nightly@", "digits-night"),),
        world=BUSY,
        accident="a robot that nobody thought of",
    ),
    Case(
        "A typing error in the group's name: nobody of the team may submit",
        (stack("group:ml@acme.example", "group:ml@acme.exmaple"),),
        (stops("submitter-gone", TEAM), tells("submitter-added", "group:ml@acme.exmaple")),
        world=BUSY,
        accident="an address with a letter wrong",
        may=("submitter-added",),
    ),
    Case(
        "A group and a domain leave, and of others' groups, which may have their people, not all are named",
        (stack(f"      - {TEAM}\n      - domain:partner.example\n", ""),),
        tuple(
            stops("submitter-gone", who, "except what a listed group or domain may")
            for who in (TEAM, "domain:partner.example")
        ),
        given=(
            stack(
                f"      - {TEAM}\n",
                f"      - {TEAM}\n      - domain:partner.example\n      - domain:guests.example\n"
                + "".join(f"      - group:{each}@acme.example\n" for each in ("a1", "b2", "c3")),
            ),
        ),
        never=("group:b2", "guests", "workspace's trainer"),
        accident="a group removed whose members' scripts were other people's schedules",
    ),
    Case(
        "Somebody may submit where each job tells a chat room",
        (stack(f"      - {ADA}\n", f"      - {ADA}\n      - user:ben@acme.example\n"),),
        (tells("submitter-added", "ben"),),
        given=(workspace("notify: chat"),),
        accident="a webhook within the reach of all jobs",
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
        "Another group submits as the trainer: who may submit as another one gets nothing back by that",
        (stack("        - group:nlp@acme.example\n", "        - group:speech@acme.example\n"),),
        (
            stops(
                *(
                    "submitter-gone",
                    "group:nlp",
                    "can't submit here any more, except what a listed group or domain may",
                ),
                "slipway:trainers.tuning.submitters",
            ),
            stops("submitter-added", "group:speech", "as trainer `tuning`, cancel", "slipway:trainers.tuning"),
        ),
        given=(trainer("group:nlp@acme.example"), LORA_TUNES, EYES),
    ),
    Case(
        "One who may submit as a trainer alone leaves it, and the domain submits as everybody",
        (stack(f"        - {BEN}\n        - {ADA}\n", f"        - {ADA}\n"),),
        (stops("submitter-gone", BEN, "except what a listed group or domain may"),),
        given=(stack(f"      - {TEAM}\n", "      - domain:acme.example\n"), trainer(BEN, ADA), LORA_TUNES),
    ),
    Case(
        "A group comes in the place of another one, and a person beside them has to name a team as before",
        (stack("      - group:vision@acme.example\n", f"      - {TEAM}\n"),),
        (stops("submitter-gone", "group:vision"), tells("submitter-added", TEAM)),
        given=(
            stack(
                f"      - {TEAM}\n      - {ADA}\n      - {NIGHTLY}\n",
                f"      - {ADA}\n      - group:vision@acme.example\n",
            ),
            stack(POLICY, f"  slipway:teams: {{ speech: {{ submitters: [{ADA}], clusters: [cpu] }} }}\n{POLICY}"),
        ),
        world=World(jobs=(Job("ada-t", "tune", state="SUCCEEDED", hours=30),)),
        never=("--team",),
    ),
    Case(
        "The only group that submits as a trainer leaves it, and its cluster takes the others' jobs no more",
        (stack("        - group:vision@acme.example\n", ""),),
        (
            stops("trainer-access-gone", "group:vision", "can't submit `lora` any more"),
            stops("pool-unused", "h100"),
            hurts("offer-unavailable", "lora", "takes jobs of team `vision` alone"),
        ),
        given=(
            trainer(ADA, "group:vision@acme.example"),
            LORA_TUNES,
            stack(POLICY, VISION.replace("cpu", "h100") + POLICY),
        ),
        world=BUSY,
        accident="machines kept for jobs that nobody may send there",
    ),
)
