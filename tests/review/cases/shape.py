"""Templates and clusters of another shape: roles, packages, images, networks, accounts, defaults of names."""

from tests.review.case import BUSY, Case, Job, World, hurts, imports, more, stack, stops, tells, template
from tests.review.cases.clusters import ANEW

USED = World(jobs=(Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100), *BUSY.jobs))
WORKERS = '        WorkerPool("workers", "n1-standard-8", DISK, replicas="${workers}"),\n'

CASES = (
    Case(
        "A role of a job is called otherwise, and does the same",
        (template("evals", 'WorkerPool("judge"', 'WorkerPool("referee"'),),
        (tells("request-changed", "evals", "judge", "referee"),),
        world=USED,
    ),
    Case(
        "A role more: machines that serve parameters",
        (template("digits", WORKERS, WORKERS + '        WorkerPool("servers", "n1-standard-8", DISK, replicas=2),\n'),),
        (hurts("machines-changed", "digits", "servers", "n1-standard-8"), hurts("run-cost", "template digits", "→")),
        may=("minimum-below-default",),
        world=BUSY,
    ),
    Case(
        "The workers go: the scheduler is to do it all",
        (
            template("digits", WORKERS, ""),
            template(
                "digits",
                '        Parameter("workers", int, default=4, min=1, max=16, help="worker machines"),\n',
                "",
            ),
        ),
        (
            hurts("machines-changed", "digits", "workers"),
            stops("parameter-gone", "digits parameter workers", "nightly"),
        ),
        world=World(jobs=(Job("digits-wide", "digits", "nightly", parameters={"workers": 2}),)),
    ),
    Case(
        "Another folder's code",
        (template("tune", 'Package("jobs/tune", "tune.task"', 'Package("jobs/digits", "digits.task"'),),
        (hurts("code-changed", "tune"),),
        may=("arguments-changed", "requirements-changed"),
    ),
    Case(
        "Results go into a log of experiments",
        (more("evals", 'experiment="suite"'),),
        (tells("metrics-changed", "evals", "suite"),),
        may=("role-above-table", "access-added"),
    ),
    Case(
        "The account that jobs run as is left to its usual name",
        (stack("    trainer: trainer\n", ""),),
        (stops("preview-failed", "", "trainer@", "can't become account slipway-prod-trainer@"),),
        world=BUSY,
    ),
    Case(
        "The work bucket is left to its usual name",
        (stack("    workBucket: acme-work\n", ""),),
        (stops("preview-failed", "", "acme-work can't become bucket gs://acme-ml-prod-work"),),
        world=BUSY,
        accident="a name left out that had been said",
    ),
    Case(
        "The cluster gets an interface into a network",
        (
            stack(
                "      retireWithin: 7d\n", "      retireWithin: 7d\n      pscInterface: { networkAttachment: train }\n"
            ),
        ),
        (
            hurts("cluster-new-generation", "cpu", "pscInterface"),
            hurts("network-changed", "digits", "train"),
            hurts("network-changed", "tune", "train"),
        ),
        may=ANEW,
    ),
    Case(
        "A template may be an hour longer under way, and its machines wait less",
        (
            template("digits", "timeout_s=3600", "timeout_s=7200"),
            template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand", "spot")'),
        ),
        (
            hurts("timeout-changed", "digits", "2 h"),
            hurts("offer-order", "digits", "on-demand", "spot"),
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
)
