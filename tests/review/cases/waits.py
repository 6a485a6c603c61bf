"""Waits, time limits and retries of jobs, and their order of capacity types."""

from tests.review.case import (
    BUSY,
    LARGE,
    Case,
    Job,
    World,
    h100,
    hurts,
    imports,
    more,
    silent,
    stack,
    stops,
    tells,
    template,
)
from tests.review.edits import (
    ALLOWED,
    IN_BOTH,
    LARGER_SHAPE,
    OTHER_REGIONS,
    SEVERAL,
    SPOT_ALONE,
    VERSION_TYPE,
    WITH_BOTH,
)
from tests.review.engine import PROJECT, creates

HARSH = stack("    advisory:\n", "    grades: { timeout-changed: blocking }\n    advisory:\n")
NO_CHECKPOINTS = template("evals", "    checkpoints=True,\n", "")
RESTARTED = "scheduling=Scheduling(restart_job_on_worker_restart=True)"
SCHEDULING = (
    *(imports("evals", "Scheduling"), more("evals", "scheduling=Scheduling(disable_retries=True)")),
    *(imports("digits", "Scheduling"), more("digits", "scheduling=Scheduling(restart_job_on_worker_restart=True)")),
)
FLEX_WAITS = template("lora", 'waits={"flex-start": 7200}', "scheduling=Scheduling(max_wait_s=3600)")

CASES = (
    silent(
        "Waits of several machines stand in another order",
        template("lora", '{"spot": 1800, "flex-start": 7200}', '{"flex-start": 7200, "spot": 1800}'),
        given=(*WITH_BOTH, template("lora", 'waits={"flex-start"', 'waits={"spot": 1800, "flex-start"')),
    ),
    Case(
        "Jobs wait longer for a pool whose season is to come",
        (template("lora", 'waits={"pool": 1800', 'waits={"pool": 3600'),),
        (tells("fallback-wait", "lora", "for pool `h100` 1 h instead of 30 min, once it is there"),),
        given=(h100("from: 2026-12-20"), template("lora", "waits={", 'waits={"pool": 1800, ')),
    ),
    Case(
        "The first machine is another one, and the wait for it on Spot ends no more",
        (
            template("lora", '"a2-highgpu-1g"', '"a3-highgpu-1g"'),
            template("lora", '"spot": 1800, ', ""),
        ),
        (
            hurts("fallback-wait", "lora", "wait for Spot until they start or fail instead of 30 min"),
            hurts("machines-changed", "lora"),
        ),
        given=(*WITH_BOTH, template("lora", 'waits={"flex-start"', 'waits={"spot": 1800, "flex-start"')),
        may=("run-cost",),
        never=("go on to flex-start with `a2",),
        accident="jobs that waited for Spot for days",
    ),
    Case(
        "A wait for Spot gets an end, but for the last machines, behind which nothing follows",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 7200, "spot": 1800}'),),
        (hurts("fallback-wait", "lora", "wait for Spot with `a2-highgpu-1g` 30 min instead of until they start or"),),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPOT_ALONE},)")),
    ),
    Case(
        "A wait is shortened that somebody's job lately took",
        (template("lora", '{"flex-start": 7200}', '{"flex-start": 600}'),),
        (hurts("fallback-wait", "lora", "wait for flex-start 10 min instead of 2 h"),),
        world=World(jobs=(Job("tune-9b", "lora", "ben", "flex-start", state="QUEUED", hours=1.2),)),
    ),
    Case(
        "Jobs are ended after a time that the last ones took longer",
        (template("lora", "230_400", "129_600"),),
        (stops("timeout-changed", "lora", "`tune-9b` (ben, succeeded after 50 h)", "(ada, running 62 h)"),),
        may=("run-cost",),
        given=(template("lora", "86_400", "230_400"),),
        world=World(
            jobs=(
                Job("tune-9b", "lora", "ben", "spot", state="SUCCEEDED", hours=100),
                Job("tune-2b", "lora", "ada", "spot", hours=62),
            )
        ),
        never=("3 days",),
        accident="a job's time limit that cut off a run in its last hour",
    ),
    Case(
        "A shorter timeout needs an approval from now on, and so does this one",
        (HARSH, template("evals", "timeout_s=7200", "timeout_s=3600")),
        (tells("policy-added", "timeout-changed"), stops("timeout-changed", "evals", "1 h")),
        may=("run-cost",),
    ),
    Case(
        "The secret that running jobs read gets another value, which a restart reads",
        names=(hurts("jobs-restart-differently", "hf-token", "another value", "tune-27b-x1"),),
        may=("resource-created",),
        steps=creates(VERSION_TYPE, "hf-token-4", {"secret": f"projects/{PROJECT}/secrets/hf-token"}),
        world=BUSY,
        accident="a rotated key that was still in use",
    ),
    Case(
        "The reservation is tried before a pool that stays paid, for which nobody waits long any more",
        (
            template("lora", '("pool", "reservation", "spot"),', '("reservation", "pool", "spot"),'),
            template("lora", 'waits={"flex-start": 7200},', 'waits={"flex-start": 7200, "pool": 900},'),
        ),
        (
            hurts("offer-order", "lora", "before pool `h100`: they cost Vertex AI's fee on top of the reservation"),
            hurts(
                "fallback-wait",
                "lora pool h100",
                "wait for a full pool `h100` 15 min instead of not at all",
            ),
        ),
        may=("run-cost",),
        never=("by its defaults",),
    ),
    Case(
        "The wait for flex-start is nobody's any more, so the service ends it",
        (template("lora", '    waits={"flex-start": 7200},\n', ""),),
        (hurts("fallback-wait", "lora flex-start", "wait for flex-start 24 h"),),
    ),
    Case(
        "Spot machines come first for code that keeps no checkpoints",
        (template("evals", '("on-demand", "spot")', '("spot", "on-demand")'),),
        (hurts("offer-order", "evals", "one that loses its machine starts from the beginning"),),
        may=("run-cost",),
        accident="a training that began anew after each preemption",
        given=(NO_CHECKPOINTS, template("evals", '("spot", "on-demand")', '("on-demand", "spot")')),
    ),
    Case(
        "A template may be an hour longer under way, and its machines wait less",
        (
            template("digits", "timeout_s=3600", "timeout_s=7200"),
            template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand", "spot")'),
        ),
        (
            hurts("timeout-changed", "digits", "2 h"),
            hurts("offer-order", "digits", "machines on demand before Spot"),
            hurts("run-cost", "template digits", "→"),
        ),
    ),
    Case(
        "Jobs begin again, all of them, whenever one replica does",
        (
            imports("digits", "Scheduling"),
            more("digits", "scheduling=Scheduling(restart_job_on_worker_restart=True)"),
        ),
        (hurts("scheduling-changed", "digits", "restartJobOnWorkerRestart"),),
    ),
    Case(
        "Trials of one machine each begin again whenever their machine does",
        (imports("tune", "Scheduling"), more("tune", RESTARTED)),
        (tells("scheduling-changed", "tune"),),
    ),
    Case(
        "The pool comes last, after Spot and on-demand",
        (template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand", "pool")'),),
        (hurts("offer-order", "digits", "Spot before pool `cpu`: they cost $0.99/h on Spot"),),
        may=("run-cost", "pool-unused"),
        accident="a pool that nobody used, paid beside machines of jobs' own",
    ),
    Case(
        "Jobs that had machines of their own try a pool first, which others share, and may run an hour",
        (
            template("evals", '("spot", "on-demand")', '("pool", "spot", "on-demand")'),
            template("lora", "86_400", "3600"),
        ),
        (
            hurts("offer-added", "evals", "before Spot"),
            tells("run-cost", "evals", "only what pool `cpu` grows by"),
            stops(
                "timeout-changed",
                "lora",
                "`tune-27b-x1` (ada) ran longer",
            ),
        ),
        may=("run-cost",),
        world=World(jobs=(LARGE,)),
        never=("more than 3 h 12 min",),
        accident="a search that waited for others' jobs",
    ),
    Case(
        "All machines start again with one, of which there is no other",
        (
            imports("evals", "Scheduling"),
            more("evals", RESTARTED),
        ),
        (tells("scheduling-changed", "evals"),),
        never=("all machines",),
    ),
    Case(
        "A study's trials may run four times as long, and an idle limit finds no GPU",
        (
            template("tune", "timeout_s=3600", "timeout_s=14400"),
            imports("evals", "Idle"),
            more("evals", "idle=Idle(after_s=3600, below=0.05)"),
        ),
        (
            hurts("timeout-changed", "tune", "have trials that may run 4 h instead of 1 h"),
            tells("environment-changed", "evals"),
        ),
        never=("ended once",),
        accident="trials that hung on a lock and were paid for four hours each",
    ),
    Case(
        "Nobody waits for a full pool any more before they pay for machines of their own",
        (template("lora", ', "pool": 3600}', "}"),),
        (
            hurts(
                "fallback-wait",
                "lora",
                "wait for a full pool `h100` not at all instead of 1 h",
            ),
        ),
        given=(template("lora", '"flex-start": 7200}', '"flex-start": 7200, "pool": 3600}'),),
        world=BUSY,
        never=("for ever", "never go on"),
        accident="an hour of patience that was taken away, and machines bought at once",
    ),
    Case(
        "Everybody waits for a full pool that they left at once",
        (template("lora", '"flex-start": 7200}', '"flex-start": 7200, "pool": 3600}'),),
        (hurts("fallback-wait", "lora", "wait for a full pool `h100` 1 h", "instead of not at all"),),
        world=BUSY,
        never=("for ever", "as before"),
        accident="jobs that waited in their command for an hour, beside free machines",
    ),
    Case(
        "On-demand machines are tried before Spot machines",
        (template("evals", '("spot", "on-demand")', '("on-demand", "spot")'),),
        (
            hurts("offer-order", "evals", "machines on demand before Spot"),
            hurts("run-cost", "template evals", "$0.22/h on Spot → $0.46/h on demand", "at most $0.44 → $0.93 a run"),
        ),
        world=BUSY,
        accident="Spot turned into on-demand",
    ),
    Case(
        "Jobs may run for a week, where a day was the end",
        (template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),),
        (hurts("timeout-changed", "lora", "7 days"), hurts("run-cost", "template lora", "→"), hurts("policy-advice")),
        may=("quota-short-at-most",),
        accident="a timeout removed, and a job that hung for a week",
    ),
    Case(
        "A submission waits for three days and a half before it pays for on-demand",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 302_400}'),),
        (hurts("fallback-wait", "lora", "flex-start", "2 h", "84 h"),),
    ),
    Case(
        "A submission falls back to on-demand after a minute",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 60}'),),
        (hurts("fallback-wait", "lora", "flex-start"),),
        accident="a fallback to the dear machines that took place too soon",
    ),
    Case(
        "Jobs end after ten minutes, where a search takes twenty",
        (template("digits", "timeout_s=3600", "timeout_s=600"),),
        (stops("timeout-changed", "digits", "10 min"),),
        may=("run-cost",),
    ),
    Case(
        "Retries are switched off",
        (
            imports("evals", "Scheduling"),
            more("evals", "scheduling=Scheduling(disable_retries=True)"),
        ),
        (stops("scheduling-changed", "evals", "Spot"),),
    ),
    Case(
        "Large models are tuned on Spot machines first",
        (template("lora", '("pool", "reservation", "spot")', '("spot", "pool", "reservation")'),),
        (hurts("offer-order", "lora", "Spot before pool"),),
        may=("run-cost",),
        world=BUSY,
    ),
    Case(
        "A wait for Spot takes the place of the one that ended flex-start",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"spot": 600}'),),
        (
            hurts(
                "fallback-wait",
                "spot",
                "wait for Spot 10 min instead of until they start or fail",
            ),
            hurts("fallback-wait", "flex-start", "wait for flex-start 24 h instead of 2 h"),
        ),
        may=("fallback-wait",),
        never=("by flex-start, then",),
        world=BUSY,
    ),
    Case(
        "Machines on demand come first, and are waited for",
        (
            template("lora", '("spot", "flex-start", "on-demand")', '("on-demand", "spot", "flex-start")'),
            template("lora", 'waits={"flex-start": 7200}', 'waits={"on-demand": 1800, "flex-start": 7200}'),
        ),
        (hurts("fallback-wait", "lora", "wait for machines on demand 30 min instead of until they start or fail"),),
        may=("offer-order", "run-cost", "fallback-wait"),
        world=BUSY,
    ),
    Case(
        "A wait that is over before a machine usually comes",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"spot": 300, "flex-start": 7200}'),),
        (hurts("fallback-wait", "lora", "wait for Spot 5 min"),),
        world=BUSY,
        accident="jobs that left Spot before it could answer",
    ),
    Case(
        "A wait that is long enough for a machine to come",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"spot": 1800, "flex-start": 7200}'),),
        (hurts("fallback-wait", "lora", "wait for Spot 30 min"),),
        never=("five to ten",),
        world=BUSY,
    ),
    Case(
        "A study's trials may run half as long",
        (template("tune", "timeout_s=3600", "timeout_s=1800"),),
        (stops("timeout-changed", "tune", "30 min instead of 1 h", "how long a trial takes", "not saved by then"),),
        accident="trials that ended before they reported",
    ),
    Case(
        "Two templates may run a little longer",
        (
            template("evals", "timeout_s=7200", "timeout_s=9000"),
            template("digits", "timeout_s=3600", "timeout_s=5400"),
        ),
        (
            tells("timeout-changed", "evals", "2 h 30 min instead of 2 h"),
            tells("timeout-changed", "digits", "1 h 30 min"),
        ),
    ),
    Case(
        "A template may run four times as long",
        (template("evals", "timeout_s=7200", "timeout_s=28_800"),),
        (hurts("timeout-changed", "evals", "8 h instead of 2 h", "may hold its machines that long"),),
    ),
    Case(
        "One template's jobs are not tried again, another's start again together",
        SCHEDULING,
        (
            stops("scheduling-changed", "evals", "or a Spot machine's loss"),
            hurts("scheduling-changed", "digits", "start again"),
        ),
    ),
    Case(
        "They are tried again, and each machine by itself",
        (
            template("evals", "    scheduling=Scheduling(disable_retries=True),\n", ""),
            template("digits", "    scheduling=Scheduling(restart_job_on_worker_restart=True),\n", ""),
        ),
        (
            tells("scheduling-changed", "evals", "tried again"),
            hurts("scheduling-changed", "digits"),
        ),
        given=SCHEDULING,
        accident="machines that waited for a lost one until their timeout",
    ),
    Case(
        "Jobs on no Spot machine are not tried again",
        (imports("evals", "Scheduling"), more("evals", "scheduling=Scheduling(disable_retries=True)")),
        (hurts("scheduling-changed", "evals", "end for good"),),
        given=(template("evals", '("spot", "on-demand")', '("on-demand",)'),),
    ),
    Case(
        "A study that has just begun may run a tenth of the time",
        (template("lora", "timeout_s=86_400", "timeout_s=8640"),),
        (
            stops("timeout-changed", "lora", "not known: how long they take"),
            tells("run-cost", "lora", "$6.08 a run"),
        ),
        never=("run on demand costs",),
        world=World(jobs=(Job("tune-9b", capacity_type="spot", hours=0.1),)),
    ),
    Case(
        "A template's other regions are tried in another order",
        (template("lora", '("us-east4", "europe-west4")', '("europe-west4", "us-east4")'),),
        (hurts("offer-order", "lora regions", "europe-west4 or us-east4, in this order"),),
        given=(OTHER_REGIONS, ALLOWED, IN_BOTH),
    ),
    Case(
        "The machines of last resort come before better ones",
        (template("lora", f"{LARGER_SHAPE}, {SEVERAL}", f"{SEVERAL}, {LARGER_SHAPE}"),),
        (stops("offer-order", "lora", "try `g2-standard-24` before `a2-ultragpu-1g`", "fails on"),),
        given=WITH_BOTH,
    ),
    Case(
        "The machines of last resort, which had Spot alone, become a template's first",
        (
            template("lora", '"a2-highgpu-1g"', '"g2-standard-24"'),
            template(
                "lora", SPOT_ALONE, SPOT_ALONE.replace("g2-standard-24", "a2-highgpu-1g").replace(', ("spot",)', "")
            ),
        ),
        (stops("offer-order", "lora", "try `g2-standard-24` before `a2-highgpu-1g`", "fills 40 GB", "fails on 24 GB"),),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPOT_ALONE},)")),
        may=("offer-added", "run-cost"),
        never=("before machines on demand", "before Spot", "list machines on demand after"),
        accident="jobs that ran out of memory on the first machine that was free",
    ),
    Case(
        "The machines of a template and of its shape change places",
        (template("lora", f"{LARGER_SHAPE}, {SEVERAL}", f"{SEVERAL}, {LARGER_SHAPE}"),),
        (stops("offer-order", "lora", "try `g2-standard-24` before `a2-ultragpu-1g`"),),
        given=WITH_BOTH,
        never=("submit with `--capacity", "field='capacity_types'"),
    ),
    Case(
        "A wait is shorter, on whatever shape",
        (template("lora", '"flex-start": 7200', '"flex-start": 600'),),
        (hurts("fallback-wait", "lora", "wait for flex-start 10 min instead of 2 h"),),
        given=WITH_BOTH,
        never=("for flex-start with",),
    ),
    Case(
        "The service waits longer for flex-start's machines",
        (template("lora", "max_wait_s=3600", "max_wait_s=14400"),),
        (hurts("fallback-wait", "lora", "wait for flex-start 4 h instead of 1 h", "scheduling.max_wait_s"),),
        given=(imports("lora", "Scheduling"), FLEX_WAITS),
        accident="a queue that held jobs for a week after nobody needed them",
    ),
    Case(
        "A reservation comes before the pool, and jobs never leave it",
        (template("lora", '("pool", "reservation", "spot")', '("reservation", "pool", "spot")'),),
        (
            hurts(
                *("offer-order", "lora", "the reservation before pool `h100`"),
                "without a wait in `waits` they stay there, though no machine comes",
            ),
        ),
        accident="a queue before two machines, beside an empty pool",
    ),
)
