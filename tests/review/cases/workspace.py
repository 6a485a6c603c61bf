"""Rights of every submitter: own code, shells, sessions, urgent jobs, the board, and the room that is told."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.edits import ADA, LORA_TUNES, POLICY, SCRIPT, SESSIONS, TEAM, trainer, workspace

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
        "A template takes no code any more, and its jobs never brought any",
        (template("digits", "    code_flag=True,\n", ""),),
        (hurts("code-forbidden", "digits", "nobody sent it with `--code` in the last 30 days"),),
        given=FREE,
        world=BUSY,
        never=("used it",),
    ),
    Case(
        "Whoever may see a job may open a shell in it",
        (more("evals", "enable_web_access=True", "enable_dashboard_access=True"),),
        (
            stops(
                "web-access-changed",
                "evals",
                "acts as `evals`",
            ),
        ),
        accident="a debugging door left open",
    ),
    Case(
        "Nobody may open a shell in a job any more",
        (template("evals", "    enable_web_access=True,\n", ""),),
        (hurts("web-access-changed", "evals", "don't open a shell any more"),),
        given=(more("evals", "enable_web_access=True"),),
    ),
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
        "Of two pools of sessions the one that is left has no usual machine of theirs",
        (stack("pools: [cpu/workers, cpu/head]", "pools: [cpu/head]"),),
        (
            hurts("sessions-limited", "workspace sessions", "on cpu/head instead of on cpu/workers or cpu/head"),
            stops("sessions-limited", "workspace usual sessions", "with their usual machines may run nowhere any more"),
        ),
        given=(*SESSIONS, stack("pools: [cpu/workers]", "pools: [cpu/workers, cpu/head]"), *_SMALL),
        accident="a notebook that nobody could open on Monday",
    ),
    Case(
        "Sessions lose a pool, and the one that is left fits one team's machines alone",
        (stack("pools: [cpu/workers, cpu/head]", "pools: [cpu/head]"),),
        (
            stops(
                "sessions-limited",
                "workspace sessions",
                "Sessions that don't count for team `vision` may run nowhere instead of on cpu/workers",
            ),
        ),
        given=(
            *SESSIONS,
            stack("pools: [cpu/workers]", "pools: [cpu/workers, cpu/head]"),
            stack(
                POLICY,
                "  slipway:machines: { desk: n1-standard-8 }\n  slipway:teams:\n"
                f"    vision: {{ submitters: [{ADA}], machines: {{ desk: n1-standard-4 }} }}\n{POLICY}",
            ),
            template("script", '"n1-standard-8"', '"desk"'),
        ),
        may=("sessions-limited",),
        accident="a notebook that only one team could open",
    ),
    Case(
        "The pool of sessions gets other disks, and no template for sessions fits it any more",
        (
            stack(
                "n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }",
                "n1-standard-8, disk: { type: pd-ssd, sizeGb: 200 }",
            ),
        ),
        (stops("sessions-limited", "workspace sessions", "nowhere"),),
        given=SESSIONS,
        may=(
            "preview-failed",
            "pool-unused",
            "cluster-new-generation",
            "generations-overlap",
            "offer-unavailable",
            "capacity-found-anew",
            "offer-misfit",
            "machines-changed",
            "run-cost",
            "no-offer-left",
        ),
        never=("ran on it", "`slipway:sessions`"),
    ),
    Case(
        "Who may submit as a trainer may open a shell in its jobs, and not in those of another",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        (
            stops(
                *(
                    "web-access-changed",
                    "workspace",
                    "In a job sent with `--shell`, anybody who may submit as its account",
                ),
                "the shell runs as that account",
            ),
        ),
        given=(trainer(TEAM), LORA_TUNES),
        never=("account of every other job", "Anybody who may submit may"),
    ),
    Case(
        "People may bring no code any more, and the template for commands stays on the list",
        (stack("    code: true\n", ""), stack("max: 8h, pools: [cpu/workers]", "max: 4h, pools: [cpu/workers]")),
        (hurts("code-forbidden", "workspace", "`slipway run`, new sessions and `slipway submit --code`"),),
        given=SESSIONS,
        accident="a rule that was to keep out other people's code, and ended everybody's sessions",
    ),
    Case(
        "Urgent jobs are allowed to a group that is no submitter",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [group:sales@acme.example]\n"),),
        (hurts("urgent-jobs", "group:sales@acme.example", "is listed under `urgent`"),),
        never=("make room",),
        accident="a group that was named by its old address",
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
        "A group's jobs may be urgent where they count for the team that it is called like",
        (URGENT,),
        (hurts("urgent-jobs", f"urgent {TEAM}", "take the place of running ones"),),
        never=("itself is no submitter",),
    ),
    Case(
        "Urgent jobs of somebody are not urgent any more",
        (stack("    urgent: [user:eve@acme.example]\n", ""),),
        (hurts("urgent-jobs", "urgent user:eve@acme.example", "refused"),),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [user:eve@acme.example]\n"),),
        world=BUSY,
        never=("another entry",),
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
        "Shells are not allowed any more",
        (stack("    shell: true\n", ""),),
        (hurts("web-access-changed", "workspace", "--shell", "refused"),),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        world=BUSY,
    ),
    Case(
        "The page of all jobs and costs is written for whoever may read the catalog",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    board: true\n"),),
        (hurts("board-shown", "workspace", "jobs and costs"),),
        world=BUSY,
    ),
    Case(
        "Notices of jobs go to another room",
        (stack("notify: slack-ml\n", "notify: slack-all\n"),),
        (hurts("jobs-told", "workspace notify", "slack-all", "nobody is told where"),),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        accident="alerts that went on in a room that nobody read",
    ),
    Case(
        "Notices of jobs go by another version of their secret",
        (stack("slack-ml/versions/3", "slack-ml/versions/4"),),
        (hurts("jobs-told", "workspace notify", "another version of secret `slack-ml`", "nobody is told where"),),
        given=(
            stack(
                "    trainer: trainer\n",
                "    trainer: trainer\n    notify: projects/acme-ml/secrets/slack-ml/versions/3\n",
            ),
        ),
    ),
    Case(
        "A chat room is told of all jobs",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    notify: slack-ml\n"),),
        (hurts("jobs-told", "workspace", "slack-ml", "errors"),),
        world=BUSY,
    ),
    Case(
        "A team and its place among the urgent go together",
        (
            stack("    urgent: [group:vision@acme.example]\n", ""),
            stack("  slipway:teams: { vision: { submitters: [user:ada@acme.example] } }\n", ""),
        ),
        (hurts("urgent-jobs", "group:vision", "is refused to its jobs"),),
        may=("submitter-gone", "team-left"),
        given=(
            stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [group:vision@acme.example]\n"),
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example] } }\n  slipway:policy:\n",
            ),
        ),
    ),
    Case(
        "Somebody loses urgent jobs as one by name, and a group keeps them",
        (stack("urgent: [group:ml@acme.example, user:ada@acme.example]", "urgent: [group:ml@acme.example]"),),
        (hurts("urgent-jobs", "urgent user:ada@acme.example", "unless another entry lets them"),),
        given=(
            stack(
                "    trainer: trainer\n",
                "    trainer: trainer\n    urgent: [group:ml@acme.example, user:ada@acme.example]\n",
            ),
        ),
    ),
    Case(
        "Notices go by a secret of the same name in another project",
        (stack("acme-ml/secrets/slack-ml/versions/3", "acme/secrets/slack-ml/versions/3"),),
        (hurts("jobs-told", "workspace notify", "`slack-ml`"),),
        given=(
            stack(
                "    trainer: trainer\n",
                "    trainer: trainer\n    notify: projects/acme-ml/secrets/slack-ml/versions/3\n",
            ),
        ),
        never=("where `slack-ml` leads",),
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
        "People may bring no code any more, as somebody did last week",
        (stack("    code: true\n", ""),),
        (stops("code-forbidden", "workspace", ": `slipway submit --code` is refused", "`eve-try` (eve, succeeded"),),
        given=FREE,
        world=BROUGHT,
        accident="a rule that was to keep out other people's code, and ended one's own",
    ),
    Case(
        "A template does not take code of one's own any more",
        (template("digits", "    code_flag=True,\n", ""),),
        (hurts("code-forbidden", "digits", "`--code` are refused"),),
        given=FREE,
        never=("sessions",),
    ),
    Case(
        "The one template for people's own commands takes no code any more",
        (Edit("templates/script.py", "code_flag=True,", ""),),
        (hurts("code-forbidden", "script", "so are `slipway run` and new sessions"),),
        given=SCRIPT,
        accident="sessions that ended for everybody by an edit of one template",
    ),
    Case(
        "The page of all jobs and costs goes",
        (without("board: true"),),
        (tells("board-shown"),),
        given=(workspace("board: true"),),
    ),
    Case(
        "Urgent jobs are another group's from now on",
        (stack("urgent: [group:ml@acme.example]", f"urgent: [{ADA}]"),),
        (
            hurts("urgent-jobs", f"urgent {TEAM}", "is not listed under `urgent` any more"),
            hurts("urgent-jobs", f"urgent {ADA}", "take the place of running ones"),
        ),
        given=(stack("    trainer: trainer\n", f"    trainer: trainer\n    urgent: [{TEAM}]\n"),),
        accident="a storm warning that waited behind a sweep",
    ),
    Case(
        "Nobody is told of jobs any more",
        (without("notify: chat"),),
        (hurts("jobs-told", "workspace notify", "Nobody is told any more", "`chat`"),),
        given=(workspace("notify: chat"),),
    ),
    Case(
        "Sessions may run two days instead of one evening, and no longer than their template's jobs",
        (stack("max: 8h", "max: 72h"),),
        (
            hurts(
                "sessions-limited",
                "",
                "on cpu/workers for up to 2 days instead of on cpu/workers for up to 8 h",
            ),
        ),
        given=SESSIONS,
        accident="a pool held for a weekend by a forgotten session",
    ),
    Case(
        "The longest time of sessions goes",
        (stack("max: 8h, ", ""),),
        (
            hurts(
                "sessions-limited",
                "",
                "may run on cpu/workers for up to 2 days instead of on cpu/workers for up to 8 h",
            ),
        ),
        given=SESSIONS,
        accident="a GPU held over the holidays by a notebook that nobody closed",
    ),
    Case(
        "The first template that takes people's code comes, where the stack has long allowed it",
        SCRIPT[2:],
        (stops("template-added", "template script", "it takes code that nobody reviewed"),),
        given=SCRIPT[:2],
        accident="a robot's rights for any notebook, switched on by a file that only added one",
    ),
    Case(
        "The first template for commands comes with a limit of sessions",
        (stack(POLICY, f"  slipway:sessions: {{ max: 4h, pools: [cpu/workers] }}\n{POLICY}"), *SCRIPT),
        (
            stops("code-allowed", "workspace", "may run code that nobody reviewed"),
            stops("policy-weaker", "reviewedCodeOnly"),
        ),
        accident="notebooks that came with a template",
    ),
    Case(
        "Sessions may not run anywhere any more",
        (stack("pools: [cpu/workers]", "pools: []"),),
        (hurts("sessions-limited", "", "nowhere instead of on cpu/workers"),),
        given=SESSIONS,
    ),
    silent(
        "Sessions may run longer, and no template can start one",
        stack("max: 8h", "max: 72h"),
        given=(stack(POLICY, f"  slipway:sessions: {{ max: 8h, pools: [cpu/workers] }}\n{POLICY}"),),
    ),
    Case(
        "Code that nobody reviewed is allowed, for a template whose account reads none of the trainer's secrets",
        (
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
        (
            stops("code-allowed", "workspace", "Anybody who may submit may run code that nobody reviewed"),
            stops("policy-weaker", "reviewedCodeOnly"),
        ),
        given=(trainer(ADA), LORA_TUNES, more("digits", "code_flag=True")),
        never=("such accounts read", "hf-token"),
    ),
    silent(
        "The longest time of sessions is written in minutes",
        stack("max: 8h", "max: 480m"),
        given=SESSIONS,
    ),
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
    silent(
        "The longest time of sessions has quotes",
        stack("max: 8h", 'max: "8h"'),
        given=SESSIONS,
    ),
    silent(
        "The list of pools of sessions has a line for each",
        stack("{ max: 8h, pools: [cpu/workers] }", "\n    max: 8h\n    pools:\n      - cpu/workers"),
        given=SESSIONS,
    ),
    silent(
        "The template of sessions has another summary",
        template("script", 'summary="a command"', 'summary="any command"'),
        given=SESSIONS,
    ),
    silent(
        "Pools of sessions are listed in another order",
        stack("pools: [cpu/workers, cpu/head]", "pools: [cpu/head, cpu/workers]"),
        given=(*SESSIONS, stack("pools: [cpu/workers]", "pools: [cpu/workers, cpu/head]"), *_SMALL),
    ),
)
