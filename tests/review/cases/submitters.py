"""Who may submit, and as which trainer: groups, domains, accounts that an edit adds or takes away."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, stack, stops, tells, template
from tests.review.edits import ADA, BEN, GRADES, LORA_TUNES, NIGHTLY, POLICY, TEAM, VISION, trainer, workspace
from tests.review.engine import ON_PROJECT, PROJECT, WORKSPACE, does
from tests.slipway.reviewing.builders import step


def added(member: str) -> Edit:
    return stack(f"      - {ADA}\n", f"      - {ADA}\n      - {member}\n")


EYES = stack("    tuning:\n", "    eyes: { submitters: [group:vision@acme.example] }\n    tuning:\n")
"""Another trainer, as which another group submits."""

CASES = (
    Case(
        "A person is listed by the domain alone, which was there before",
        (stack("      - user:ada@acme.example\n", ""),),
        (
            tells(
                "submitter-gone",
                "user:ada@acme.example",
                "is not listed by name any more: they are of `domain:acme.example`",
            ),
        ),
        world=BUSY,
        given=(stack("group:ml@acme.example", "domain:acme.example"),),
    ),
    Case(
        "A robot with a job running is shut out, where a deployed rule needs nobody's approval for it",
        (stack(f"      - {NIGHTLY}\n", ""),),
        (hurts("submitter-gone", NIGHTLY),),
        given=(GRADES,),
        world=BUSY,
    ),
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
        (
            stops(
                *(
                    "submitter-added",
                    "group:students@acme.example",
                    "as trainer `tuning`",
                ),
            ),
        ),
        given=(
            *(trainer(TEAM), LORA_TUNES, stack(POLICY, VISION.replace("clusters: [cpu]", "budget: 900") + POLICY)),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
        never=("once that account may",),
        accident="a token in the hands of a class",
    ),
    Case(
        "A person joins the submitters and, by a second line, those of a trainer that reads a secret",
        (
            stack("      - user:ada@acme.example\n", "      - user:ada@acme.example\n      - user:mira@acme.example\n"),
            stack(f"        - {TEAM}\n\n", f"        - {TEAM}\n        - user:mira@acme.example\n\n"),
        ),
        (
            stops(
                "submitter-added",
                "user:mira@acme.example",
                "workspace's trainer and trainer `tuning`",
            ),
        ),
        given=(trainer(TEAM), LORA_TUNES),
        accident="a newcomer whose second right nobody was told",
    ),
    Case(
        "A person who has a job running leaves the submitters",
        (stack("      - user:ada@acme.example\n", ""), stack("ada: 100, ", "")),
        (
            stops(
                "submitter-gone",
                ADA,
                "tune-27b-x1",
                "except what a listed group or domain may",
            ),
        ),
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
        "A newcomer may submit, but not as another trainer",
        (added("user:mira@acme.example"),),
        (tells("submitter-added", "user:mira@acme.example", "may submit as the workspace's trainer, cancel"),),
        given=(trainer(NIGHTLY), LORA_TUNES),
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
        "The account of the nightly search leaves while nothing of it runs: tonight it is refused",
        (stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),),
        (stops("submitter-gone", "serviceAccount:nightly@"),),
        world=World(jobs=(Job("digits-night", "digits", "nightly", state="SUCCEEDED", hours=9.0),)),
        accident="a robot that nobody thought of",
    ),
    Case(
        "Nobody may submit any more, and the pools are paid",
        (
            stack(
                f"    submitters:\n      - {TEAM}\n      - {ADA}\n      - {NIGHTLY}\n",
                "    submitters: []\n",
            ),
        ),
        tuple(stops("submitter-gone", member, "nobody is left") for member in (TEAM, ADA, NIGHTLY)),
        accident="everybody shut out by an edit of one line",
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
            stops(
                "submitter-gone",
                who,
                "except what a listed group or domain may",
            )
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
        "A team gets another name, which its members go on to say",
        (stack("    vision: { submitters", "    sight: { submitters"),),
        (hurts("submitter-gone", "team vision", "`--team vision` are refused", "slipway:teams"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n    vision: { submitters: [group:seeing@acme.example] }\n\n  slipway:policy:\n",
            ),
        ),
        accident="a renamed team, whose schedules said the old name",
    ),
    Case(
        "A group leaves, and another one comes with a person who stays in one of them",
        (stack(f"      - {TEAM}\n", "      - group:nlp@acme.example\n"),),
        (stops("submitter-gone", TEAM, "except what a listed group or domain may"),),
        may=("submitter-added",),
        given=(stack(f"      - {TEAM}\n", f"      - {TEAM}\n      - group:vision@acme.example\n"),),
        accident="a renamed group, whose old members were locked out",
    ),
    Case(
        "Somebody may submit where each job tells a chat room",
        (stack(f"      - {ADA}\n", f"      - {ADA}\n      - user:ben@acme.example\n"),),
        (tells("submitter-added", "ben"),),
        given=(workspace("notify: chat"),),
        accident="a webhook within the reach of all jobs",
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
        "A team goes whose label a template keeps: its jobs have no limit of their own any more",
        (stack(VISION.replace("clusters: [cpu]", "budget: 900"), ""),),
        (
            stops("submitter-gone", "vision"),
            hurts("budget-changed", "teams.vision", "no limit of its own any more"),
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
        "Somebody new may submit as that trainer alone",
        (stack(f"        - {ADA}\n", f"        - {ADA}\n        - {BEN}\n"),),
        (stops("submitter-added", BEN, "tuning"),),
        given=(trainer(ADA), LORA_TUNES),
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
        "A group that submits as the trainer alone leaves, and other groups can't submit as it",
        (stack("        - group:nlp@acme.example\n", ""),),
        (stops("submitter-gone", "group:nlp", "except what a listed group or domain may"),),
        given=(trainer(ADA, "group:nlp@acme.example"), LORA_TUNES),
        world=BUSY,
    ),
    Case(
        "One who submits as the trainer alone leaves it: a group that submits as it gives that back, others do not",
        (stack(f"        - {BEN}\n", ""),),
        (
            hurts(
                *(
                    "submitter-gone",
                    BEN,
                    "can't submit here any more, except what a listed group or domain may",
                ),
                "slipway:trainers.tuning.submitters",
            ),
        ),
        given=(trainer("group:nlp@acme.example", BEN), LORA_TUNES),
        never=(TEAM,),
        accident="a right lost that somebody was told a group would keep",
    ),
    Case(
        "One who submits as both leaves both, and each group gives back a part",
        (stack(f"      - {TEAM}\n      - {ADA}\n", f"      - {TEAM}\n"), stack(f"        - {ADA}\n", "")),
        (
            stops(
                *("submitter-gone", ADA),
                "can't submit here any more, except what a listed group or domain may",
            ),
        ),
        given=(trainer("group:nlp@acme.example", ADA), LORA_TUNES),
    ),
    Case(
        "One who submits as everybody leaves, and a domain that may submit as one trainer alone stays",
        (stack("      - user:ada@acme.example\n", ""),),
        (hurts("submitter-gone", ADA, "except what a listed group or domain may"),),
        given=(trainer("domain:acme.example"), LORA_TUNES),
        accident="a person shut out of all jobs but one",
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
    Case(
        "A group comes beside another one, and a person beside them has to name a team as before",
        (stack("      - group:vision@acme.example\n", f"      - group:vision@acme.example\n      - {TEAM}\n"),),
        (tells("submitter-added", TEAM),),
        given=(
            stack(
                f"      - {TEAM}\n      - {ADA}\n      - {NIGHTLY}\n",
                f"      - {ADA}\n      - group:vision@acme.example\n",
            ),
            stack(POLICY, f"  slipway:teams: {{ speech: {{ submitters: [{ADA}], clusters: [cpu] }} }}\n{POLICY}"),
        ),
        never=("--team",),
    ),
)
