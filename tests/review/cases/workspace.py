"""Rights of every submitter: own code, shells, sessions, urgent jobs, the board, and the room that is told."""

from tests.review.case import BUSY, Case, Edit, Job, World, blocks, imports, more, silent, stack, template, warns
from tests.review.edits import POLICY, SCRIPT, SESSIONS, workspace

_HEAD = stack("pools: [cpu/workers] }", "pools: [cpu/head] }")
_ON_HEAD = template(
    "script",
    'capacity_types=("pool", "spot"), ',
    'variants=(Variant({"small": True}, (WorkerPool("script", "n1-standard-4", Disk("pd-ssd", 100), args=ARGS),)),),\n'
    '    capacity_types=("pool", "spot"), ',
)
_SMALL = (
    imports("script", "Variant"),
    template("script", "command=True),)", 'command=True), Parameter("small", bool, default=False))'),
    _ON_HEAD,
)
TRAINER = stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n")
FREE = (more("digits", "code_flag=True"), TRAINER, stack("      reviewedCodeOnly: true\n", ""))

BROUGHT = World(jobs=(Job("eve-try", "digits", "eve", state="SUCCEEDED", hours=170, code=True),))


def without(*lines: str) -> Edit:
    return stack("".join(f"    {line}\n" for line in lines), "")


CASES = (
    Case(
        "A template may be submitted with code of one's own, where the stack allows it",
        (more("digits", "code_flag=True"),),
        (blocks("access-gained", "trainer@acme-ml.iam.gserviceaccount.com"),),
        given=(
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
    ),
    Case(
        "Sessions are held to a pool that has no usual machine of theirs",
        (_HEAD,),
        (warns("submission-rejected", "script"), warns("access-gained", "head"), warns("access-lost", "workers")),
        given=(*SESSIONS, *_SMALL),
    ),
    Case(
        "People may bring no code any more, and the template for commands stays on the list",
        (stack("    code: true\n", ""), stack("max: 8h, pools: [cpu/workers]", "max: 4h, pools: [cpu/workers]")),
        (warns("access-lost", "trainer@acme-ml.iam.gserviceaccount.com"),),
        given=SESSIONS,
    ),
    Case(
        "Sessions may run longer, and on a pool that no template for them fits",
        (stack("{ max: 8h, pools: [cpu/workers] }", "{ max: 3d, pools: [cpu/workers, h100/workers] }"),),
        (warns("access-gained", "h100"),),
        given=(stack(POLICY, f"  slipway:sessions: {{ max: 8h, pools: [cpu/workers] }}\n{POLICY}"), *SCRIPT),
    ),
    Case(
        "Whoever may submit may open a shell in machines of their jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        (blocks("access-gained | access-lost", "workspace"),),
        world=BUSY,
    ),
    Case(
        "Somebody may have others' jobs make room for urgent ones",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [user:eve@acme.example]\n"),),
        (blocks("access-gained", "workspace"),),
        world=BUSY,
    ),
    Case(
        "The page of all jobs and costs is written for whoever may read the catalog",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    board: true\n"),),
        (warns("access-gained | access-lost", "workspace"),),
        world=BUSY,
    ),
    Case(
        "A chat room is told of all jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        (warns("access-gained | access-lost", "workspace"),),
        world=BUSY,
    ),
    Case(
        "A shell in jobs that read no secret", (more("digits", "enable_web_access=True"),), (blocks("access-gained"),)
    ),
    Case(
        "A template takes no code any more, as somebody brought it last week",
        (template("digits", "    code_flag=True,\n", ""),),
        (blocks("access-lost", "trainer@acme-ml.iam.gserviceaccount.com"),),
        given=FREE,
        world=BROUGHT,
    ),
    Case(
        "Nobody is told of jobs any more",
        (without("notify: chat"),),
        (warns("access-lost", "workspace"),),
        given=(workspace("notify: chat"),),
    ),
    Case(
        "The first template that takes people's code comes, where the stack has long allowed it",
        SCRIPT[2:],
        (blocks("access-gained", "trainer@acme-ml.iam.gserviceaccount.com"),),
        given=SCRIPT[:2],
    ),
    silent("The longest time of sessions is written in minutes", stack("max: 8h", "max: 480m"), given=SESSIONS),
)
