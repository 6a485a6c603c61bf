"""Capacity types that nobody can have for now: quota, teams, machines and dates."""

from tests.review.case import LARGE, QUIET, Case, World, h100, hurts, more, stack, stops, tells, template
from tests.review.edits import DEMAND_TEAM, MONEY, OFFERS, PARALLEL, POLICY, STUDIED, TEAMS, ago

CASES = (
    Case(
        "A team's own machine fits no pool, and there is no quota for it elsewhere",
        (stack(f"{DEMAND_TEAM} }}", f"{DEMAND_TEAM}, machines: {{ small: n1-highmem-16 }} }}"),),
        (
            stops("offer-unavailable", "tune", "(team demand)", "nor run now", "there is too little quota for it"),
            hurts("machines-changed", "tune", "ask for `n1-highmem-16`"),
        ),
        given=(
            stack(POLICY, "  slipway:machines: { small: n1-standard-8 }\n" + POLICY),
            *TEAMS,
            stack("clusters: [cpu]", "clusters: []"),
            template("tune", '"n1-standard-8"', '"small"'),
            template("tune", '("hyperparameter-tuning-job", "custom-job")', '("hyperparameter-tuning-job",)'),
            more("tune", 'capacity_types=("pool", "spot")'),
        ),
        may=("run-cost", "preview-failed"),
        world=World(limits={"preemptible_cpus": 24}),
        accident="a faster machine that nothing had room for",
    ),
    Case(
        "The only capacity type left has no quota",
        (template("evals", '("spot", "on-demand")', '("spot",)'),),
        (stops("no-offer-left", "template evals"), hurts("offer-gone", "evals", "on-demand")),
        may=("quota-short-at-most", "offer-unavailable", "preview-failed"),
        world=World(limits={"preemptible_cpus": 1}),
    ),
    Case(
        "A template takes machines for which there is no quota at all",
        (template("evals", '("spot", "on-demand")', '("on-demand",)'),),
        (hurts("offer-gone", "evals", "spot"), stops("no-offer-left | preview-failed", "", "evals")),
        may=("preview-failed", "run-cost", "offer-unavailable", "quota-short-at-most"),
        world=World(limits={"cpus": 4}),
    ),
    Case(
        "The on-demand machines that jobs fall back to have no quota",
        (template("lora", '"a2-highgpu-1g", Disk', '"a2-highgpu-8g", Disk'),),
        (hurts("offer-unavailable", "lora", "on-demand", "quota"), hurts("machines-changed", "lora", "a2-highgpu-8g")),
        may=("run-cost", "quota-short-at-most"),
        world=World(limits={"nvidia_a100_gpus": 4}),
        accident="quota that was there in another region",
    ),
    Case(
        "A cluster gets a day to come, and a template has no other way to run",
        (
            stack(
                "      displayName: cpu of research\n", "      displayName: cpu of research\n      from: 2026-12-20\n"
            ),
        ),
        (
            stops("no-offer-left", "tune", "can't run"),
            hurts("cluster-deleted", "cpu", "nobody can submit to it"),
            hurts("offer-unavailable", "digits", "the next way costs $0.99/h on Spot"),
        ),
        may=(*MONEY, *OFFERS, "season-changed"),
    ),
    Case(
        "A season ended yesterday, as was announced, with a job on the cluster",
        (QUIET,),
        (
            tells(
                "cluster-retires",
                "h100",
                "deleted when `tune-27b-x1` (ada) has ended",
                "out of season since 2026-11-20",
            ),
            hurts("offer-unavailable", "lora"),
        ),
        may=(*MONEY, *OFFERS, "jobs-finish-on-old"),
        given=(h100("until: 2026-11-20"),),
        world=ago(3, LARGE),
        accident="a trial's end that came before its last job's",
    ),
    Case(
        "More trials at once than the pool has machines, and one job fits it still",
        (template("tune", 'parallel_trials="${parallel}"', "parallel_trials=24"), template("tune", PARALLEL, "")),
        (
            hurts("offer-unavailable", "tune pool", "can't use pool `cpu` any more"),
            hurts("parameter-gone", "tune"),
            hurts("study-changed", "tune", "`parallelTrialCount` `24` instead of"),
        ),
        given=(more("tune", 'capacity_types=("pool", "spot")'), template("tune", "int, default=8", "int, default=40")),
        world=STUDIED,
        may=("run-cost",),
        never=("can use pool `cpu`", "disks and account of the template and of a pool alike"),
        accident="trials that waited for machines that the pool could not have",
    ),
)
