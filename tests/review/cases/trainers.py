"""Trainers: accounts of jobs, who may act as them, and jobs whose account goes."""

from tests.review.case import BUSY, Case, Edit, Job, World, blocks, stack, template, warns
from tests.review.edits import ADA, BEN, LORA_TUNES, TEAM, trainer
from tests.review.engine import ACCOUNT, PROJECT, TRAINER, WORKSPACE, deletes, does
from tests.slipway.reviewing.builders import step

THE_ACCOUNT = {"accountId": "trainer", "email": TRAINER, "project": PROJECT}
TUNING = "prod--tuning@acme-ml.iam.gserviceaccount.com"

CASES = (
    Case(
        "An account of somebody else's is adopted: what it may do elsewhere is not in the stack",
        finds=(),
        steps=does(step("import", ACCOUNT, "robot", new={"accountId": "robot", "project": "acme-ml"})),
    ),
    Case(
        "The engine deletes the account that running jobs are",
        finds=(blocks("resource-deleted", TRAINER), blocks("job-loses-resource", TRAINER, "tune-27b-x1")),
        steps=deletes(ACCOUNT, "trainer", THE_ACCOUNT, f"projects/acme-ml/serviceAccounts/{TRAINER}"),
        world=BUSY,
    ),
    Case(
        "A fine-tuning with a token gets a trainer of its own, for one person",
        (trainer(ADA), LORA_TUNES),
        (
            blocks("submission-changed", "lora"),
            warns("access-lost", "lora", "ml@acme.example"),
            warns("access-gained", "prod--tuning@acme-ml.iam.gserviceaccount.com"),
        ),
        world=BUSY,
    ),
    Case(
        "Somebody leaves a team, and submits as a trainer all the same: the team's line is what was edited",
        (stack(f"vision: {{ submitters: [{TEAM}, {BEN}]", f"vision: {{ submitters: [{TEAM}]"),),
        (
            blocks("access-lost", "workspace", "ben@acme.example"),
            warns("access-lost", "vision"),
            warns("submission-rejected", "lora"),
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
    ),
    Case(
        "A trainer that nobody could submit as opens to its first",
        (stack("      submitters: []\n", f"      submitters: [{ADA}]\n"),),
        (blocks("access-gained", "tuning", "ada@acme.example"),),
        given=(trainer(), LORA_TUNES),
    ),
    Case(
        "A trainer gets another name, keeps its account, and has another member",
        (
            stack("    tuning:\n", "    tuners:\n      account: prod--tuning\n"),
            template("lora", 'trainer="tuning"', 'trainer="tuners"'),
            stack(f"        - {BEN}\n        - {ADA}\n", f"        - {BEN}\n        - {TEAM}\n"),
        ),
        (
            blocks("access-gained", "prod--tuning@acme-ml.iam.gserviceaccount.com", "ml@acme.example"),
            warns("access-lost", "prod--tuning@acme-ml.iam.gserviceaccount.com", "ada@acme.example"),
        ),
        given=(trainer(BEN, ADA), LORA_TUNES),
    ),
    Case(
        "A trainer is declared that no template names yet",
        (trainer(ADA),),
        (warns("access-gained", "prod--tuning@acme-ml.iam.gserviceaccount.com"),),
    ),
    Case(
        "The engine makes the account of a trainer that is new",
        (trainer(ADA), LORA_TUNES),
        (
            blocks("submission-changed", "lora"),
            warns("access-lost", "lora", "ml@acme.example"),
            warns("access-gained", "prod--tuning@acme-ml.iam.gserviceaccount.com"),
        ),
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
        (blocks("deployment-rejected"), warns("access-lost", "tuning")),
        given=(trainer(ADA), LORA_TUNES),
        may=("access-lost",),
    ),
    Case(
        "A trainer is renamed as which a template still runs, and the new name is near",
        (stack("    tuning:\n", "    tuners:\n"),),
        (blocks("deployment-rejected"), warns("access-lost", "tuning")),
        given=(trainer(ADA), LORA_TUNES),
        may=("access-lost", "access-gained"),
    ),
    Case(
        "The account of a trainer that no template names is another one",
        (stack("    tuning:\n", "    tuning:\n      account: tuning-of-research\n"),),
        (),
        given=(trainer(ADA),),
        may=("access-lost", "access-gained"),
    ),
)
