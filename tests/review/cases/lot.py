"""Classes that a second unseen set of changes showed: pipelines' waits, sessions, inputs, limits of people."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.cases.mended import SCRIPT, TEAMS
from tests.review.cases.seldom import PIPELINE, SECOND
from tests.review.cases.trainers import LORA, TEAM, trainer
from tests.review.engine import ON_BUCKET, TRAINER, does, grants
from tests.slipway.reviewing.builders import step

_POLICY = "  slipway:policy:\n"
_ON_POOL = (
    *PIPELINE,
    SECOND,
    template("train", '("on-demand",),\n', '("pool", "on-demand"),\n    waits={"pool": 7200},\n'),
)
_OF_TEAM = (
    more("train", 'labels={"team": "search"}'),
    stack(
        _POLICY,
        "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
        f"    vision: {{ submitters: [group:vision@acme.example], clusters: [h100] }}\n{_POLICY}",
    ),
)
_RETRIES = Edit(PIPELINE[0].file, '"taskInfo": {"name": "a"}', '"taskInfo": {"name": "a"}, "retryPolicy": {}')
_THREE = Edit(PIPELINE[0].file, '"retryPolicy": {}', '"retryPolicy": {"maxRetryCount": 3}')
_INPUT = more("digits", 'inputs={"data": "gs://acme-data/digits"}')
_GPU = template("evals", "n1-standard-8", "g2-standard-12")
_IDLE = (imports("evals", "Idle"), more("evals", "idle=Idle(3600)"), _GPU)
_HEAD = stack("pools: [cpu/workers] }", "pools: [cpu/head] }")
_SESSIONS = (stack(_POLICY, f"  slipway:sessions: {{ max: 8h, pools: [cpu/workers] }}\n{_POLICY}"), *SCRIPT)
_ON_HEAD = template(
    "script",
    'capacity_types=("pool", "spot"), ',
    'variants=(Variant({"small": True}, (WorkerPool("script", "n1-standard-4", Disk("pd-ssd", 100), args=ARGS),)),),\n'
    '    capacity_types=("pool", "spot"), ',
)
_VIEWER, _DATA = "roles/storage.objectViewer", {"bucket": "acme-data"}
_SMALL = (
    imports("script", "Variant"),
    template("script", "command=True),)", 'command=True), Parameter("small", bool, default=False))'),
    _ON_HEAD,
)

CASES = (
    Case(
        "A pipeline's tasks go on to no machines of their own any more, and a task is tried once",
        (
            template("train", '    waits={"pool": 7200},\n', ""),
            Edit(PIPELINE[0].file, ', "retryPolicy": {"maxRetryCount": 3}', ""),
        ),
        (
            hurts("request-changed", "train", "fail when a task's wait", "until now such a task went on to a machine"),
            tells("request-changed", "train", "have each task wait `24 h`", "instead of `2 h`"),
            hurts("request-changed", "train", "try no task again that fails, until now `a`", "ends the whole run"),
            hurts("request-changed", "train", "another version"),
        ),
        may=("fallback-wait",),
        given=(*_ON_POOL, _RETRIES, _THREE, *_OF_TEAM),
        never=("h100", "FAIL", "86400000", "machines beside the pool cost extra"),
        accident="a night that failed at its first hiccup",
    ),
    Case(
        "An input is copied where a parameter names it alone",
        (
            template("digits", '{"data": "gs://acme-data/digits"}', '{"data": "${source}"}'),
            template(
                "digits", "    parameters=(\n", '    parameters=(\n        Parameter("source", str, default=""),\n'
            ),
        ),
        (
            stops("arguments-changed", "digits", "unless `source` says from where", "$SLIPWAY_INPUT_DATA"),
            tells("parameter-added", "digits", "source"),
        ),
        given=(_INPUT,),
        never=("takes the same without it", "= nothing"),
    ),
    Case(
        "Jobs are ended sooner, and at more use of their GPUs",
        (template("evals", "Idle(3600)", "Idle(600, below=0.6)"),),
        (hurts("environment-changed", "evals", "below 60 % for 10 min, until now below 5 % for 1 h"),),
        given=_IDLE,
        never=("SLIPWAY_IDLE` =",),
        accident="healthy runs that were ended while they loaded their data",
    ),
    Case(
        "Idle jobs are ended no more",
        (template("evals", "    idle=Idle(3600),\n", ""),),
        (tells("environment-changed", "evals", "run on, and are paid, while nobody uses their GPUs"),),
        given=_IDLE,
    ),
    Case(
        "Sessions are held to a pool that has no usual machine of theirs",
        (_HEAD,),
        (
            hurts("sessions-limited", "workspace sessions", "on cpu/head for up to 8 h"),
            stops("sessions-limited", "workspace usual sessions", "plain `slipway session start`", "is refused"),
        ),
        given=(*_SESSIONS, *_SMALL),
        accident="a notebook that nobody could open on Monday",
    ),
    Case(
        "A cluster gets another name, with its shares and sessions",
        (
            stack("    cpu:\n", "    compute:\n"),
            stack("shares: { cpu:", "shares: { compute:"),
            stack("[cpu/workers]", "[compute/workers]"),
        ),
        (hurts("cluster-retires", "cluster cpu"), tells("sessions-limited", "workspace sessions", "compute/workers")),
        given=(
            *_SESSIONS,
            stack(
                _POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n\n"
                f"  slipway:shares: {{ cpu: {{ search: 4 }} }}\n{_POLICY}",
            ),
        ),
        world=BUSY,
        never=("Shares of `compute`",),
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
        given=_SESSIONS,
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
        "Anybody may open a shell, also who may submit as a trainer alone",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    shell: true\n"),),
        (stops("web-access-changed", "workspace", "runs as the job's account; such accounts read"),),
        given=(trainer(TEAM), LORA),
        never=("account of every other job",),
    ),
    Case(
        "A group may submit as a trainer that reads a secret",
        (stack(f"        - {TEAM}\n\n", f"        - {TEAM}\n        - group:students@acme.example\n\n"),),
        (hurts("submitter-added", "group:students@acme.example", "as trainer `tuning`", "can read secret `hf-token`"),),
        given=(trainer(TEAM), LORA),
        never=("once that account may",),
        accident="a token in the hands of a class",
    ),
    Case(
        "A person joins the submitters and, by a second line, those of a trainer that reads a secret",
        (
            stack("      - user:ada@acme.example\n", "      - user:ada@acme.example\n      - user:mira@acme.example\n"),
            stack(f"        - {TEAM}\n\n", f"        - {TEAM}\n        - user:mira@acme.example\n\n"),
        ),
        (hurts("submitter-added", "user:mira@acme.example", "also as trainer `tuning`", "can read secret `hf-token`"),),
        given=(trainer(TEAM), LORA),
        accident="a newcomer whose second right nobody was told",
    ),
    Case(
        "A cluster becomes a team's, where sessions of all may run alone and another team has a share",
        (stack("search@acme.example] }", "search@acme.example], clusters: [bench, cpu] }"),),
        (
            stops(
                "cluster-team",
                "cluster cpu",
                *("no other cluster takes sessions, so theirs are refused", "the share of `vision` there is void"),
                "without it, jobs of `digits` cost $0.99/h on Spot",
            ),
            hurts("cluster-team", "cluster bench"),
            hurts("cluster-team", "template tune", "only clusters of team `search` have machines for them"),
        ),
        given=(
            *_SESSIONS,
            stack(
                _POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
                "    vision: { submitters: [group:vision@acme.example] }\n\n"
                f"  slipway:shares: {{ cpu: {{ search: 4, vision: 4 }} }}\n{_POLICY}",
            ),
            stack(
                "    cpu:\n      displayName",
                "    bench:\n      pools:\n"
                "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n"
                "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 4 }\n"
                "    cpu:\n      displayName",
            ),
        ),
        may=("offer-unavailable", "fallback-wait", "pool-unused", "run-cost", "offer-order"),
        accident="a cluster given to whom used it most, and everybody's sessions with it",
    ),
    Case(
        "A person's limit is higher, and another has one: nobody is refused by either",
        (stack("{ users: { bo: 100 } }", "{ users: { bo: 200, lee: 100 } }"),),
        (
            tells("budget-changed", "budget users.bo", "$200 a month instead of $100"),
            tells("budget-changed", "budget users.lee", "$100 a month"),
        ),
        given=(stack(_POLICY, f"  slipway:budget: {{ users: {{ bo: 100 }} }}\n{_POLICY}"),),
    ),
    Case(
        "The trainer may list a bucket, and read no more of it",
        names=(
            stops("access-gone", f"serviceAccount:{TRAINER}", "may only list bucket", "`digits`"),
            stops("jobs-lose-bucket", "acme-data", "digits-night"),
        ),
        steps=does(
            grants("delete", ON_BUCKET, f"serviceAccount:{TRAINER}", _VIEWER, **_DATA),
            grants("create", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.legacyBucketReader", **_DATA),
        ),
        given=(_INPUT,),
        world=BUSY,
        accident="a role that was to be the smaller one, and read nothing",
    ),
    Case(
        "A binding takes the place of the single grant of its only member",
        names=(
            stops(
                "access-gone",
                f"serviceAccount:{TRAINER}",
                "can no longer read",
                "every submitter of the workspace",
                "`digits`",
                "the deletion takes it away",
            ),
            stops("jobs-lose-bucket", "acme-data", "digits-night"),
            hurts("access-gone", "storage.objectViewer on bucket `acme-data`"),
        ),
        steps=does(
            grants("delete", ON_BUCKET, f"serviceAccount:{TRAINER}", "roles/storage.objectViewer", bucket="acme-data"),
            step(
                "create",
                "gcp:storage/bucketIAMBinding:BucketIAMBinding",
                "readers",
                new={
                    "bucket": "acme-data",
                    "role": "roles/storage.objectViewer",
                    "members": [f"serviceAccount:{TRAINER}"],
                },
            ),
        ),
        given=(_INPUT, trainer("user:zoe@acme.example")),
        world=BUSY,
        accident="a right that the plan granted and its last step took away",
    ),
    Case(
        "Trials that promise little end early",
        (template("tune", "        max_trials", '        stopping=Stopping("median"),\n        max_trials'),),
        (hurts("study-changed", "tune", "end trials early that promise less than others"),),
        given=(imports("tune", "Stopping"),),
        never=("search with",),
    ),
    Case(
        "A container is started without the launcher",
        (template("evals", '        command=("judge",),\n', ""),),
        (stops("request-changed", "evals", "start without Slipway's launcher", "is not kept"),),
        given=(
            template("evals", '    secrets={"JUDGE_KEY": "judge-key"},\n', ""),
            template("evals", "    checkpoints=True,\n", ""),
        ),
        may=("arguments-changed",),
        world=World(jobs=(Job("evals-core", "evals", capacity_type="spot"),)),
        accident="results on a machine's disk, and two runs of one submission",
    ),
    Case(
        "Jobs are ended later, and at less use of their GPUs",
        (template("evals", "Idle(3600)", "Idle(7200, below=0.01)"),),
        (tells("environment-changed", "evals", "below 1 % for 2 h, until now below 5 % for 1 h"),),
        given=_IDLE,
    ),
    silent("A limit of idle GPUs is written out", template("evals", "3600)", "3600, below=0.05)"), given=_IDLE),
    silent(
        "Shares of teams stand in another order",
        stack("{ search: 2, demand: 2 }", "{ demand: 2, search: 2 }"),
        given=(*TEAMS, stack(_POLICY, "  slipway:shares: { cpu: { search: 2, demand: 2 } }\n" + _POLICY)),
    ),
)
