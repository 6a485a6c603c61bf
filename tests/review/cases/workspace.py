"""Rights of every submitter: own code, shells, sessions, urgent jobs, the board, and the room that is told."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.edits import POLICY, SCRIPT, SESSIONS, TEAM, workspace

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


URGENT = stack("    trainer: trainer\n", f"    trainer: trainer\n    urgent: [{TEAM}]\n")

CASES = (
    Case(
        "A template may be submitted with code of one's own, where the stack allows it",
        (more("digits", "code_flag=True"),),
        (stops("code-allowed", "digits", "code that nobody reviewed"),),
        given=(
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
        accident="code that nobody had read, run with a robot's rights",
    ),
    Case(
        "Sessions are held to a pool that has no usual machine of theirs",
        (_HEAD,),
        (
            hurts("sessions-limited", "workspace sessions", "on cpu/head for up to 8 h"),
            stops("sessions-limited", "workspace usual sessions", "plain `slipway session start`", "is refused"),
        ),
        given=(*SESSIONS, *_SMALL),
        accident="a notebook that nobody could open on Monday",
    ),
    Case(
        "People may bring no code any more, and the template for commands stays on the list",
        (stack("    code: true\n", ""), stack("max: 8h, pools: [cpu/workers]", "max: 4h, pools: [cpu/workers]")),
        (hurts("code-forbidden", "workspace", "`slipway run`, new sessions and `slipway submit --code`"),),
        given=SESSIONS,
        accident="a rule that was to keep out other people's code, and ended everybody's sessions",
    ),
    Case(
        "Sessions may run longer, and on a pool that no template for them fits",
        (stack("{ max: 8h, pools: [cpu/workers] }", "{ max: 3d, pools: [cpu/workers, h100/workers] }"),),
        (
            hurts("sessions-limited", "", "on cpu/workers for up to 2 days instead of on cpu/workers for up to 8 h"),
            hurts("sessions-limited", "workspace usual sessions", "is refused: it has to name cpu/workers"),
        ),
        given=(stack(POLICY, f"  slipway:sessions: {{ max: 8h, pools: [cpu/workers] }}\n{POLICY}"), *SCRIPT),
        never=("may run on cpu/workers or h100",),
        accident="days of a warm machine for one notebook",
    ),
    Case(
        "Whoever may submit may open a shell in machines of their jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        (stops("web-access-changed", "workspace", "open a shell", "account"),),
        world=BUSY,
    ),
    Case(
        "Somebody may have others' jobs make room for urgent ones",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [user:eve@acme.example]\n"),),
        (hurts("urgent-jobs", "urgent user:eve@acme.example", "take the place of running ones", "--urgent"),),
        world=BUSY,
    ),
    Case(
        "A team gets another name than the group whose jobs may be urgent",
        (stack("{ ml: { submitters", "{ nlp: { submitters"),),
        (
            hurts("urgent-jobs", f"urgent {TEAM}", "lets nobody any more, under `urgent`: no job counts for a team"),
            hurts("submitter-gone", "team ml"),
        ),
        given=(stack(POLICY, f"  slipway:teams: {{ ml: {{ submitters: [{TEAM}] }} }}\n{POLICY}"), URGENT),
        accident="a renamed team whose work could not go before any more",
    ),
    Case(
        "The page of all jobs and costs is written for whoever may read the catalog",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    board: true\n"),),
        (hurts("board-shown", "workspace", "jobs and costs"),),
        world=BUSY,
    ),
    Case(
        "A chat room is told of all jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        (hurts("jobs-told", "workspace", "slack-ml", "errors"),),
        world=BUSY,
    ),
    Case(
        "A shell in jobs that read no secret",
        (more("digits", "enable_web_access=True"),),
        (stops("web-access-changed", "digits", "open a shell", "acts as `trainer`"),),
    ),
    Case(
        "A template takes no code any more, as somebody brought it last week",
        (template("digits", "    code_flag=True,\n", ""),),
        (stops("code-forbidden", "digits", "1 submission by eve sent it with `--code`"),),
        given=FREE,
        world=BROUGHT,
    ),
    Case(
        "The page of all jobs and costs goes",
        (without("board: true"),),
        (tells("board-shown"),),
        given=(workspace("board: true"),),
    ),
    Case(
        "Nobody is told of jobs any more",
        (without("notify: chat"),),
        (hurts("jobs-told", "workspace notify", "Nobody is told any more", "`chat`"),),
        given=(workspace("notify: chat"),),
    ),
    Case(
        "The first template that takes people's code comes, where the stack has long allowed it",
        SCRIPT[2:],
        (stops("template-added", "template script", "it takes code that nobody reviewed"),),
        given=SCRIPT[:2],
        accident="a robot's rights for any notebook, switched on by a file that only added one",
    ),
    silent("The longest time of sessions is written in minutes", stack("max: 8h", "max: 480m"), given=SESSIONS),
    Case(
        "A second template for commands comes, and no plain command knows which to take",
        (
            stack("    - desk\n", "    - desk\n    - bench\n"),
            Edit("templates/bench.py", new=str(SCRIPT[-1].new).replace('"script"', '"bench"')),
        ),
        (
            tells("template-added", "bench"),
            hurts("sessions-limited", "usual template", "it has to name a template, `bench` or `desk`"),
        ),
        given=(
            *SCRIPT[:2],
            stack("    - evals\n", "    - evals\n    - desk\n"),
            Edit("templates/desk.py", new=str(SCRIPT[-1].new).replace('"script"', '"desk"')),
        ),
        accident="every notebook's command, refused on a Monday",
    ),
)
