"""Trainers: another account for a template, the members who may act as it, and the secrets that it reads."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, more, stack, stops, tells, template
from tests.review.engine import ACCOUNT, PROJECT, WORKSPACE, does
from tests.slipway.reviewing.builders import step

TEAM, ADA, BEN = "group:ml@acme.example", "user:ada@acme.example", "user:ben@acme.example"
NIGHTLY = "serviceAccount:nightly@acme-ml.iam.gserviceaccount.com"
TUNING = "slipway-prod-tuning@acme-ml.iam.gserviceaccount.com"
OWN = '    service_account="evals@acme-ml.iam.gserviceaccount.com",\n'


def trainer(*members: str) -> Edit:
    """Return the trainer `tuning`, as which these may act."""
    listed = "".join(f"        - {member}\n" for member in members)
    submitters = f"      submitters:\n{listed}" if members else "      submitters: []\n"
    return stack("  slipway:policy:\n", f"  slipway:trainers:\n    tuning:\n{submitters}\n  slipway:policy:\n")


LORA = more("lora", 'trainer="tuning"')
VISION = stack("    tuning:\n", "    eyes: { submitters: [group:vision@acme.example] }\n    tuning:\n")
"""Another trainer, as which another group submits."""

CASES = (
    Case(
        "A fine-tuning with a token gets a trainer of its own, for one person",
        (trainer(ADA), LORA),
        (
            stops("account-changed", "lora", TEAM, "hf-token", TUNING),
            tells("trainer-added", "tuning", ADA, "lora"),
        ),
        world=BUSY,
        accident="a token that a whole department could read",
    ),
    Case(
        "The same for everybody who may submit already: nobody is shut out",
        (trainer(TEAM, ADA, NIGHTLY), LORA),
        (stops("account-changed", "lora", "hf-token", TUNING), tells("trainer-added", "tuning", TEAM)),
        may=("trainer-access-added",),
        world=BUSY,
    ),
    Case(
        "A template without secrets moves to the trainer that reads the token",
        (more("tune", 'trainer="tuning"'),),
        (hurts("account-changed", "tune", "its code may also read secret `hf-token`"),),
        given=(trainer(TEAM, ADA, NIGHTLY), LORA),
        world=BUSY,
        accident="a token within the reach of code that had no business with it",
    ),
    Case(
        "A template with an account of its own moves to a new trainer of one person",
        (trainer(ADA), template("evals", OWN, '    trainer="tuning",\n')),
        (
            stops(
                "account-changed",
                "evals",
                f"`{TEAM}` and `{NIGHTLY}` may not submit `evals` any more",
                "until it may read secret `judge-key`",
            ),
            tells("trainer-added", "tuning", ADA),
        ),
        never=(f"`{ADA}` may not submit", "; list `"),
    ),
    Case(
        "Another person may submit as the trainer, and so read the token",
        (stack(f"        - {ADA}\n", f"        - {ADA}\n        - {TEAM}\n"),),
        (stops("trainer-access-added", TEAM, "hf-token"),),
        given=(trainer(ADA), LORA),
        world=BUSY,
        accident="a secret shared with those who were only to use it",
    ),
    Case(
        "Who may submit as that trainer becomes a team, and so submits as the trainer of all too",
        (
            stack(
                "  slipway:policy:\n", f"  slipway:teams: {{ vision: {{ submitters: [{BEN}] }} }}\n  slipway:policy:\n"
            ),
        ),
        (stops("trainer-access-added", BEN, "slipway:teams.vision.submitters", "they may do all that"),),
        given=(trainer(BEN), LORA),
        may=("submitter-added", "team-added"),
        never=("another trainer's templates read the secret",),
    ),
    Case(
        "Somebody new may submit as that trainer alone",
        (stack(f"        - {ADA}\n", f"        - {ADA}\n        - {BEN}\n"),),
        (hurts("submitter-added", BEN, "tuning", "hf-token"),),
        given=(trainer(ADA), LORA),
    ),
    Case(
        "One who may submit as both loses the trainer",
        (stack(f"        - {ADA}\n        - {TEAM}\n", f"        - {TEAM}\n"),),
        (stops("trainer-access-gone", ADA, "can't submit `lora` any more", f"except as a member of `{TEAM}`"),),
        given=(trainer(ADA, TEAM), LORA),
        world=BUSY,
        accident="a person shut out of one job of many",
    ),
    Case(
        "Another group submits as the trainer: who may submit as another one gets nothing back by that",
        (stack("        - group:nlp@acme.example\n", "        - group:speech@acme.example\n"),),
        (
            stops(
                *(
                    "submitter-gone",
                    "group:nlp",
                    "can't submit any more, nor cancel jobs or read results, except as a member of",
                ),
                "slipway:trainers.tuning.submitters",
            ),
            hurts("submitter-added", "group:speech", "as trainer `tuning` and no other", "slipway:trainers.tuning"),
        ),
        given=(trainer("group:nlp@acme.example"), LORA, VISION),
        never=("group:vision",),
    ),
    Case(
        "A group that submits as the trainer alone leaves, and other groups can't submit as it",
        (stack("        - group:nlp@acme.example\n", ""),),
        (stops("submitter-gone", "group:nlp", f"except as a member of `{TEAM}`"),),
        given=(trainer(ADA, "group:nlp@acme.example"), LORA),
        world=BUSY,
        never=("as trainer", "unless in"),
    ),
    Case(
        "The CPU machines become a team's, which a group that submits as a trainer alone could not use before",
        (
            stack(
                "  slipway:policy:\n",
                f"  slipway:teams: {{ vision: {{ submitters: [{ADA}], clusters: [cpu] }} }}\n  slipway:policy:\n",
            ),
        ),
        (hurts("cluster-team", "cluster cpu", TEAM), stops("cluster-team", "template tune", TEAM)),
        given=(trainer("group:nlp@acme.example"), LORA),
        world=World(jobs=(Job("tune-depth", "tune", parameters={"trials": 16}, hours=0.4),)),
        never=("group:nlp",),
    ),
    Case(
        "Somebody leaves a team, and submits as a trainer all the same: the team's line is what was edited",
        (stack(f"vision: {{ submitters: [{TEAM}, {BEN}] }}", f"vision: {{ submitters: [{TEAM}] }}"),),
        (stops("trainer-access-gone", BEN, "can't submit `digits`", "slipway:teams.vision.submitters"),),
        given=(
            trainer(BEN),
            LORA,
            stack(
                "  slipway:policy:\n",
                f"  slipway:teams: {{ vision: {{ submitters: [{TEAM}, {BEN}] }} }}\n  slipway:policy:\n",
            ),
        ),
        never=("slipway:workspace.submitters", "unless in"),
        accident="a person taken off one list of two",
    ),
    Case(
        "Who submits as one trainer may submit as another, for one of their templates",
        (stack(f"        - {ADA}\n", f"        - {ADA}\n        - {BEN}\n"),),
        (stops("trainer-access-added", BEN, "slipway:trainers.tuning.submitters"),),
        given=(
            trainer(ADA),
            LORA,
            stack(
                "  slipway:policy:\n", f"  slipway:teams: {{ vision: {{ submitters: [{BEN}] }} }}\n  slipway:policy:\n"
            ),
        ),
    ),
    Case(
        "Code that nobody reviewed is allowed, for a template whose account reads none of the trainer's secrets",
        (
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
        (
            stops("code-allowed", "workspace", "Anybody who may submit `digits` may run code that nobody reviewed"),
            stops("policy-weaker", "reviewedCodeOnly"),
        ),
        given=(trainer(ADA), LORA, more("digits", "code_flag=True")),
        never=("such accounts read", "hf-token"),
    ),
    Case(
        "A trainer is declared that no template names yet",
        (trainer(ADA),),
        (tells("trainer-added", "tuning", "Templates that choose it"),),
    ),
    Case(
        "The last who may submit as the trainer leaves it",
        (stack(f"      submitters:\n        - {ADA}\n", "      submitters: []\n"),),
        (stops("trainer-access-gone", ADA, "nobody is left who can submit `lora`"),),
        given=(trainer(ADA), LORA),
        accident="a person shut out of one job of many",
    ),
    Case(
        "The trainer goes, and its template runs as the trainer of all again",
        (
            Edit("stacks/Pulumi.prod.yaml", trainer(ADA).new or "", "  slipway:policy:\n"),
            template("lora", '    trainer="tuning",\n', ""),
        ),
        (
            stops("account-changed", "lora", TEAM, "fail unless that may read secret `hf-token`"),
            hurts("trainer-gone", "tuning", ADA),
        ),
        given=(trainer(ADA), LORA),
        may=("trainer-access-gone",),
    ),
    Case(
        "A trainer's account is another one",
        (stack("    tuning:\n", "    tuning:\n      account: tuning-of-research\n"),),
        (stops("account-changed", "trainer tuning", TUNING, "tuning-of-research@"),),
        given=(trainer(TEAM, ADA, NIGHTLY), LORA),
    ),
    Case(
        "A template names a trainer that the stack does not have",
        (more("lora", 'trainer="tunning"'),),
        (stops("preview-failed", "", "did you mean `tuning`?"),),
        given=(trainer(ADA),),
    ),
    Case(
        "The engine makes the account of a trainer that is new",
        (trainer(ADA), LORA),
        (stops("account-changed", "lora"), tells("account-created", "tuning", "slipway:trainers.tuning")),
        steps=does(
            step(
                "create",
                ACCOUNT,
                "trainer.tuning",
                new={"accountId": "slipway-prod-tuning", "project": PROJECT},
                parent=WORKSPACE,
            )
        ),
        world=BUSY,
    ),
    Case(
        "One who submits as everybody leaves, and a domain that may submit as one trainer alone stays",
        (stack("      - user:ada@acme.example\n", ""),),
        (stops("submitter-gone", ADA, "except as a member of `domain:acme.example`"),),
        given=(trainer("domain:acme.example"), LORA),
        never=("as before",),
        accident="a person shut out of all jobs but one",
    ),
    Case(
        "One who may submit as a trainer alone leaves it, and the domain submits as everybody",
        (stack(f"        - {BEN}\n        - {ADA}\n", f"        - {ADA}\n"),),
        (stops("submitter-gone", BEN, "except as a member of `domain:acme.example`"),),
        given=(stack(f"      - {TEAM}\n", "      - domain:acme.example\n"), trainer(BEN, ADA), LORA),
        never=("as before",),
    ),
    Case(
        "A trainer goes whose members may all submit as everybody",
        (
            Edit("stacks/Pulumi.prod.yaml", trainer(ADA, NIGHTLY).new or "", "  slipway:policy:\n"),
            template("lora", '    trainer="tuning",\n', ""),
        ),
        (stops("account-changed", "lora", "hf-token"), hurts("trainer-gone", "tuning", ADA, NIGHTLY)),
        given=(trainer(ADA, NIGHTLY), LORA),
        never=("if they are to submit the same",),
        accident="jobs that read a token with an account that was to be rid of it",
    ),
    Case(
        "The account of a trainer that no template names is another one",
        (stack("    tuning:\n", "    tuning:\n      account: tuning-of-research\n"),),
        (tells("account-changed", "trainer tuning", "tuning-of-research@"),),
        given=(trainer(ADA),),
    ),
    Case(
        "A template returns to the trainer of all, which reads its secret already",
        (template("tune", '    trainer="tuning",\n', ""),),
        (hurts("account-changed", "tune", TEAM, NIGHTLY),),
        given=(trainer(ADA), more("tune", 'trainer="tuning"', 'secrets={"HF_TOKEN": "hf-token"}')),
        never=("they fail", "they read no secret", "a grant on"),
    ),
)
