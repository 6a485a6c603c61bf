"""Trainers: accounts of jobs, who may act as them, and jobs whose account goes."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, more, stack, stops, tells, template
from tests.review.edits import ADA, BEN, LORA_TUNES, NIGHTLY, TEAM, trainer
from tests.review.engine import ACCOUNT, PROJECT, TRAINER, WORKSPACE, deletes, does
from tests.slipway.reviewing.builders import step

THE_ACCOUNT = {"accountId": "trainer", "email": TRAINER, "project": PROJECT}
TUNING = "prod--tuning@acme-ml.iam.gserviceaccount.com"

CASES = (
    Case(
        "An account of somebody else's is adopted: what it may do elsewhere is not in the stack",
        names=(tells("account-created", "robot@acme-ml"),),
        steps=does(step("import", ACCOUNT, "robot", new={"accountId": "robot", "project": "acme-ml"})),
    ),
    Case(
        "The engine deletes the account that running jobs are",
        names=(
            stops("account-deleted", TRAINER),
            stops("jobs-lose-account", TRAINER, "tune-27b-x1", "ada", "which is deleted"),
        ),
        steps=deletes(ACCOUNT, "trainer", THE_ACCOUNT, f"projects/acme-ml/serviceAccounts/{TRAINER}"),
        world=BUSY,
        accident="a deleted service account that could not be made again",
    ),
    Case(
        "A fine-tuning with a token gets a trainer of its own, for one person",
        (trainer(ADA), LORA_TUNES),
        (stops("account-changed", "lora", TEAM, "hf-token", TUNING), tells("trainer-added", "tuning", ADA, "lora")),
        world=BUSY,
        accident="a token that a whole department could read",
    ),
    Case(
        "A template without secrets moves to the trainer that reads the token",
        (more("tune", 'trainer="tuning"'),),
        (hurts("account-changed", "tune", "their code may read secret `hf-token` from now on"),),
        given=(trainer(TEAM, ADA, NIGHTLY), LORA_TUNES),
        world=BUSY,
        accident="a token within the reach of code that had no business with it",
    ),
    Case(
        "Somebody leaves a team, and submits as a trainer all the same: the team's line is what was edited",
        (stack(f"vision: {{ submitters: [{TEAM}, {BEN}]", f"vision: {{ submitters: [{TEAM}]"),),
        (
            stops("trainer-access-gone", BEN, "slipway:teams.vision.submitters"),
            tells("team-left", BEN, "not listed in team `vision` any more"),
        ),
        given=(
            trainer(BEN),
            LORA_TUNES,
            stack(
                "  slipway:policy:\n",
                f"  slipway:teams: {{ vision: {{ submitters: [{TEAM}, {BEN}], budget: 900 }} }}\n  slipway:policy:\n",
            ),
        ),
        world=World(jobs=(Job("tune-9", "tune", "ben", "pool", state="SUCCEEDED", hours=2),)),
        never=("slipway:workspace.submitters", "unless in"),
        accident="a person taken off one list of two",
    ),
    Case(
        "A trainer that nobody could submit as opens to its first",
        (stack("      submitters: []\n", f"      submitters: [{ADA}]\n"),),
        (stops("trainer-access-added", ADA, "hf-token"),),
        given=(trainer(), LORA_TUNES),
        never=("somebody who may already do that",),
        accident="a secret shared with those who were only to use it",
    ),
    Case(
        "A person leaves a trainer as which the whole domain may submit, and a list of three stays",
        (stack(f"        - {BEN}\n        - {ADA}\n", f"        - {BEN}\n"),),
        (tells("trainer-access-gone", ADA, "can't submit `lora` any more, except through a listed group or domain"),),
        given=(trainer(BEN, ADA, TEAM, "domain:acme.example"), LORA_TUNES),
    ),
    Case(
        "A trainer gets another name, keeps its account, and has another member",
        (
            stack("    tuning:\n", "    tuners:\n      account: prod--tuning\n"),
            template("lora", 'trainer="tuning"', 'trainer="tuners"'),
            stack(f"        - {BEN}\n        - {ADA}\n", f"        - {BEN}\n        - {TEAM}\n"),
        ),
        (
            stops("trainer-access-added", TEAM, "trainer `tuners`", "hf-token", "slipway:trainers.tuners.submitters"),
            stops("trainer-access-gone", ADA, "can't submit `lora`", "slipway:trainers.tuning.submitters"),
            tells("account-changed", "lora", "trainer `tuners` instead of trainer `tuning`"),
        ),
        given=(trainer(BEN, ADA), LORA_TUNES),
        never=("Nothing new runs", "an account of its own", "may not submit"),
        accident="a token opened to a department under the name of a tidying-up",
    ),
    Case(
        "A trainer is declared that no template names yet",
        (trainer(ADA),),
        (tells("trainer-added", "tuning", "Templates that choose it"),),
    ),
    Case(
        "The engine makes the account of a trainer that is new",
        (trainer(ADA), LORA_TUNES),
        (stops("account-changed", "lora"), tells("account-created", "tuning", "slipway:trainers.tuning")),
        steps=does(
            step(
                "create",
                ACCOUNT,
                "trainer.tuning",
                new={"accountId": "prod--tuning", "project": PROJECT},
                parent=WORKSPACE,
            )
        ),
        world=BUSY,
    ),
    Case(
        "A trainer goes as which a template still runs, so the deployment is refused",
        (Edit("stacks/Pulumi.prod.yaml", trainer(ADA).new or "", "  slipway:policy:\n"),),
        (stops("preview-failed", "", "runs as trainer tuning"), hurts("trainer-gone", "tuning", ADA)),
        given=(trainer(ADA), LORA_TUNES),
        may=("trainer-access-gone",),
        never=("run as account", "may now"),
    ),
    Case(
        "A trainer is renamed as which a template still runs, and the new name is near",
        (stack("    tuning:\n", "    tuners:\n"),),
        (stops("preview-failed", "", "runs as trainer tuning"), hurts("trainer-gone", "tuning", ADA)),
        given=(trainer(ADA), LORA_TUNES),
        may=("trainer-access-gone", "trainer-access-added", "trainer-added"),
        never=("did you mean",),
    ),
    Case(
        "The account of a trainer that no template names is another one",
        (stack("    tuning:\n", "    tuning:\n      account: tuning-of-research\n"),),
        (tells("account-changed", "trainer tuning", "tuning-of-research@"),),
        given=(trainer(ADA),),
    ),
)
