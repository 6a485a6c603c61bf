"""Classes that an unseen set of changes showed: what follows from a change where a sentence told something else."""

from tests.review.case import (
    BUSY,
    CALM,
    LARGE,
    Case,
    Edit,
    Job,
    World,
    hurts,
    imports,
    more,
    stack,
    stops,
    tells,
    template,
)

_PLAIN = (
    Edit(
        "jobs/digits/task.py",
        "def main() -> None:\n",
        "import json\nimport random\nfrom pathlib import Path\n\n\n"
        "def kept(path, scores):\n    Path(path).write_text(json.dumps(scores))\n\n\n"
        "def draw(seed):\n    return random.Random(seed)\n\n\ndef main() -> None:\n    draw(7)\n",
    ),
)
_AT_WORK = World(jobs=(LARGE, Job("tune-27b-r2", user="ben", capacity_type="reservation", parameters={"model": "27b"})))
SCRIPT = (
    stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
    stack("      reviewedCodeOnly: true\n", ""),
    stack("    - evals\n", "    - evals\n    - script\n"),
    Edit(
        "templates/script.py",
        new="from slipway.template import SCRIPT, Disk, JobTemplate, Package, Parameter, WorkerPool\n\n"
        'CODE = Package("jobs/digits", SCRIPT, "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:20260901")\n'
        'ARGS = ("--command=${command}", "--output=${slipway.output}")\n\n'
        'TEMPLATE = JobTemplate(name="script", summary="a command", code=CODE, code_flag=True,\n'
        '    worker_pools=(WorkerPool("script", "n1-standard-8", Disk("pd-ssd", 100), args=ARGS),),\n'
        '    parameters=(Parameter("command", str, default="python a.py", command=True),),\n'
        '    capacity_types=("pool", "spot"), timeout_s=3600)\n',
    ),
)
_SAVING = (
    Edit(
        "jobs/digits/task.py",
        "def main() -> None:\n",
        "import os\nfrom pathlib import Path\n\n\ndef main() -> None:\n"
        '    output, pace = Path(os.environ["SLIPWAY_OUTPUT"]), float(os.environ.get("PACE", "1"))\n'
        '    new, kept = output / "new", output / "epoch"\n'
        "    for epoch in range(EVERY):\n        new.write_text(str(epoch * pace))\n        os.replace(new, kept)\n"
        '    (output / "done").write_text("ok")\n',
    ),
)
_READING = Edit(
    "jobs/digits/task.py",
    "def main() -> None:\n",
    "import argparse\n\n\ndef main() -> None:\n    parser = argparse.ArgumentParser()\n"
    '    for name in ("--trees", "--seed", "--output"):\n        parser.add_argument(name)\n    parser.parse_args()\n',
)
_VARIANTS = (
    'variants=(Variant({"suite": "full"}, (WorkerPool("judge", "n1-standard-16", Disk("pd-ssd", 100)),), '
    '("on-demand",)),)'
)
_POLICY = "  slipway:policy:\n"
TEAMS = (
    stack(
        _POLICY,
        "  slipway:teams:\n    search: { submitters: [group:search@acme.example], clusters: [cpu] }\n"
        "    demand: { submitters: [group:demand@acme.example] }\n" + _POLICY,
    ),
)
_SEARCH, _DEMAND = "{ submitters: [group:search@acme.example]", "{ submitters: [group:demand@acme.example]"
_HANDED_ON = (
    stack(f"{_SEARCH}, clusters: [cpu] }}", f"{_SEARCH} }}"),
    stack(f"{_DEMAND} }}", f"{_DEMAND}, clusters: [cpu] }}"),
)


def _counts(name: str, team: str) -> Edit:
    return template(name, "    timeout_s=3600,\n", f'    timeout_s=3600,\n    labels={{"team": "{team}"}},\n')


CASES = (
    Case(
        "People may bring no code any more, and the template for commands stays on the list",
        (stack("    code: true\n", ""),),
        (hurts("code-forbidden", "workspace", "`slipway run`, sessions and `slipway submit --code`"),),
        given=SCRIPT,
        accident="a rule that was to keep out other people's code, and ended everybody's sessions",
    ),
    Case(
        "Urgent jobs are allowed to a group that is no submitter",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    urgent: [group:sales@acme.example]\n"),),
        (hurts("urgent-jobs", "group:sales@acme.example", "itself is no submitter"),),
        accident="a group that was named by its old address",
    ),
    Case(
        "Sessions may run longer, and on a pool that no template for them fits",
        (stack("{ max: 8h, pools: [cpu/workers] }", "{ max: 3d, pools: [cpu/workers, h100/workers] }"),),
        (
            hurts("sessions-limited", "", "on cpu/workers for up to 3 days instead of 8 h"),
            tells("sessions-limited", "", "No session can run on h100/workers", "fits it"),
        ),
        given=(stack(_POLICY, f"  slipway:sessions: {{ max: 8h, pools: [cpu/workers] }}\n{_POLICY}"), *SCRIPT),
        never=("may run on cpu/workers or h100",),
        accident="three days of a warm machine for one notebook",
    ),
    Case(
        "Checkpoints are written no more, and the template says that there are some",
        (Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", ""),),
        (hurts("code-changed", "digits", "no line saves a checkpoint", "begins anew"),),
        given=_SAVING,
        accident="a night's work lost with a machine, for fewer writes",
    ),
    Case(
        "The line that saves is in another file now",
        (
            Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", "        keep(new, kept)\n"),
            Edit("jobs/digits/keeping.py", new="import os\n\n\ndef keep(new, kept):\n    os.replace(new, kept)\n"),
        ),
        may=("code-changed",),
        given=_SAVING,
        never=("no line saves",),
    ),
    Case(
        "A variable goes whose value the code takes by itself",
        (template("digits", 'env={"PACE": "1"}', "env={}"),),
        (tells("environment-changed", "digits", "PACE"),),
        may=("environment-changed",),
        given=(*_SAVING, more("digits", 'env={"PACE": "1"}')),
    ),
    Case(
        "A variable goes without which the code takes another value",
        (template("digits", 'env={"PACE": "2"}', "env={}"),),
        (hurts("environment-changed", "digits", "takes a value of its own, or fails"),),
        given=(*_SAVING, more("digits", 'env={"PACE": "2"}')),
        accident="a pace that had been set for a test, and was taken out after it",
    ),
    Case(
        "A variable is said that the code takes by itself",
        (more("digits", 'env={"PACE": "1"}'),),
        (tells("environment-changed", "digits", "PACE"),),
        may=("environment-changed",),
        given=_SAVING,
    ),
    Case(
        "A team's cluster is another team's, and its templates count for it by their label, whoever submits them",
        _HANDED_ON,
        (
            stops("no-offer-left", "tune", "of team `demand`, and they count for `search`"),
            hurts("offer-unavailable", "digits", "they cost $0.99/h on Spot", "slipway:teams.search.clusters"),
            hurts("cluster-team", "team search"),
        ),
        given=(*TEAMS, _counts("tune", "search"), _counts("digits", "search")),
        may=("run-cost", "pool-unused"),
        never=("still may", "teams.demand.submitters", "wait beside", "without it"),
        accident="machines that a team had counted on, and paid for nobody",
    ),
    Case(
        "A team's cluster is another team's, for whoever says so",
        _HANDED_ON,
        (
            hurts("cluster-team", "cluster cpu", "with `--team demand`"),
            stops("cluster-team", "template tune", "by `group:search@acme.example`"),
        ),
        given=TEAMS,
        may=("cluster-team",),
        world=World(jobs=(Job("tune-depth", "tune", parameters={"trials": 16}, hours=0.4),)),
        never=("still may",),
        accident="a cluster handed on before its jobs were",
    ),
    Case(
        "A template gets a label whose team may not use the cluster that it had",
        (_counts("digits", "demand"),),
        (hurts("offer-unavailable", "digits", "of team `search`, and they count for `demand`"),),
        given=TEAMS,
        may=("run-cost", "pool-unused"),
        accident="a label that was meant for the bill",
    ),
    Case(
        "Jobs need larger machines, which another team's cluster alone has",
        (template("tune", '"n1-standard-8"', '"n1-standard-16"'),),
        (hurts("offer-gone", "tune", "they cost $"), hurts("machines-changed", "tune")),
        given=(
            stack(
                "    cpu:\n",
                "    big:\n      pools:\n        workers:\n          machine: n1-standard-16\n"
                "          disk: { type: pd-ssd, sizeGb: 100 }\n          replicas: { min: 1, max: 4 }\n    cpu:\n",
            ),
            *TEAMS,
            stack("clusters: [cpu]", "clusters: [big]"),
            _counts("tune", "demand"),
            more("tune", 'capacity_types=("pool", "on-demand")'),
        ),
        may=("run-cost",),
        never=("nothing more while pool `big`",),
        accident="a night's runs on paid machines, told as free",
    ),
    Case(
        "Types and docstrings of a job's functions",
        (
            Edit(
                "jobs/digits/task.py",
                "def kept(path, scores):\n",
                'def kept(path: Path, scores: dict[str, float]) -> None:\n    """Write the checkpoint of a seed."""\n',
            ),
            Edit("jobs/digits/task.py", "def draw(seed):\n", "def draw(\n    seed: int,\n) -> random.Random:\n"),
        ),
        may=("code-changed",),
        given=_PLAIN,
    ),
    Case(
        "Types of the methods of a class that is called alone",
        (
            Edit(
                "jobs/digits/task.py",
                "def step(self, seed, rate=1.0):",
                "def step(self, seed: int, rate: float = 1.0) -> int:",
            ),
        ),
        may=("code-changed",),
        given=(
            Edit(
                "jobs/digits/task.py",
                "def main() -> None:\n",
                "class Search:\n    def step(self, seed, rate=1.0):\n        return seed\n\n\n"
                "def main() -> None:\n    Search().step(7)\n",
            ),
        ),
    ),
    Case(
        "A type that nothing imports: the file fails as it is loaded",
        (Edit("jobs/digits/task.py", "def draw(seed):\n", "def draw(seed) -> Generator:\n"),),
        (hurts("code-changed", "digits"),),
        given=_PLAIN,
        world=BUSY,
        accident="an annotation of a name that only the editor knew",
    ),
    Case(
        "A generator without the seed that it had",
        (Edit("jobs/digits/task.py", "random.Random(seed)", "random.Random()"),),
        (hurts("code-changed", "digits", "random.Random()"),),
        given=_PLAIN,
        never=("make it a parameter",),
        world=BUSY,
        accident="a search that was started again and drew other candidates",
    ),
    Case(
        "The one template of a pool lists pools no more: it would fit",
        (template("lora", '("pool", "reservation", "spot")', '("spot", "reservation")'),),
        (stops("pool-unused", "h100/workers", "no template both fits it and lists `pool`"),),
        may=("offer-gone", "offer-order", "run-cost"),
        never=("no template fits",),
        world=CALM,
        accident="reserved machines idle after a template's order was tidied",
    ),
    Case(
        "No template asks for a reservation any more, on which somebody's job is",
        (
            template("lora", '                    reservation="bought",\n', ""),
            template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
        ),
        (stops("reservation-paid", "bought", "no template", "`tune-27b-r2` (ben)", "goes on"),),
        may=("offer-gone",),
        never=("used by nothing",),
        world=_AT_WORK,
        accident="a reservation given up under a running job",
    ),
    Case(
        "A maximum that quota can't reach, refused as the old cluster holds all of it",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 8 }"),),
        (
            stops("quota-short-in-overlap", "h100", "`replacement: in-place`"),
            hurts("quota-short-at-most", "h100", "can't grow beyond 2 of 8 machines"),
        ),
        may=("cluster-new-generation", "generations-overlap", "capacity-found-anew", "most-cost"),
        never=("ask for fewer",),
        world=World(jobs=(LARGE,), limits={"nvidia_h100_gpus": 16}),
        accident="a pool that was let grow before its quota",
    ),
    Case(
        "A wider bound for which the pool still has room: nobody is crowded out",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=6"),),
        (tells("bounds-widened", "tune"),),
        never=("others wait",),
        world=BUSY,
    ),
    Case(
        "A bound beyond the pool: who else waits",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=20"),),
        (tells("bounds-widened", "tune", "up to 20"),),
        world=BUSY,
        accident="one study that held a shared pool for a night",
    ),
    Case(
        "A bound up to the whole pool, for more trials at once than a study has by default",
        (template("tune", "default=2, min=1, max=4", "default=2, min=1, max=16"),),
        (tells("bounds-widened", "tune", "up to 16"),),
        never=("can't start",),
        world=BUSY,
        accident="one study that held a shared pool for a night",
    ),
    Case(
        "One of a cluster's pools may grow beyond quota, and a job may ask for more than that",
        (
            stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 32 }"),
            template("digits", "default=4, min=1, max=16", "default=4, min=1, max=32"),
        ),
        (
            hurts(
                "quota-short-at-most",
                "quota",
                "`cpu/workers` can't grow beyond 24 of 32 machines",
            ),
            tells("bounds-widened", "digits", "up to 32"),
        ),
        may=("cluster-new-generation", "generations-overlap", "capacity-found-anew", "most-cost"),
        never=("`cpu/head` and",),
        world=World(limits={"cpus": 200}),
        accident="a pool that was let grow before its quota",
    ),
    Case(
        "A reservation between a pool and Spot goes: what the pool has no room for is paid anew",
        (
            template("lora", '                    reservation="bought",\n', ""),
            template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
        ),
        (
            hurts("offer-gone", "lora", "where pool `h100` has no capacity, they cost $63.92/h on Spot"),
            stops("reservation-paid"),
        ),
        world=CALM,
        accident="machines that stayed paid after nobody asked for them",
    ),
    Case(
        "A case's machine that loses its arguments: nothing that is submitted reaches it",
        (template("lora", 'Disk("pd-ssd", 500),\n                    args=ARGS,\n', 'Disk("pd-ssd", 500),\n'),),
        (
            stops(
                "arguments-changed", "lora", "`rank`", "to no effect", "`--output`", "pass `args` in this variant too"
            ),
        ),
        world=BUSY,
        accident="a helper that forgot to pass the arguments on",
    ),
    Case(
        "Arguments in another order, each of which the code reads by its name",
        (template("digits", 'TREES, "--seed=${seed}"', '"--seed=${seed}", TREES'),),
        (tells("arguments-changed", "digits", "reads each by its name"),),
        given=(_READING,),
        accident="a warning of nothing, after which nobody read the next one",
    ),
    Case(
        "Nobody waits for a full pool any more before they pay for machines of their own",
        (template("lora", ', "pool": 3600}', "}"),),
        (
            hurts(
                "fallback-wait",
                "lora",
                "leave pool `h100` at once where it is full, instead of after 1 h",
                "fee on top",
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
        (hurts("fallback-wait", "lora", "wait 1 h for pool `h100`", "instead of not at all"),),
        world=BUSY,
        never=("for ever", "as before"),
        accident="jobs that waited in their command for an hour, beside free machines",
    ),
    Case(
        "A template's code writes its results where nobody finds them",
        (Edit("jobs/digits/task.py", 'Path(os.environ["SLIPWAY_OUTPUT"])', 'Path("/tmp")'),),
        (hurts("code-changed", "digits", "no line names a place for results", "lost when they end"),),
        given=(*_SAVING, template("digits", "    checkpoints=True,\n", "")),
        accident="a night's results on a disk that went with its machine",
    ),
    Case(
        "A team has no share of a cluster any more, where another has all of it",
        (stack("{ search: 2, demand: 2 }", "{ search: 16 }"),),
        (
            hurts(
                "team-shares",
                "cpu",
                "search 16 instead of demand 2, search 2",
                "what a team submits above its share waits",
            ),
        ),
        given=(*TEAMS, stack(_POLICY, "  slipway:shares: { cpu: { search: 2, demand: 2 } }\n" + _POLICY)),
        accident="a team whose jobs stood for a week behind another's",
    ),
    Case(
        "A team's own machine fits no pool, and there is no quota for it elsewhere",
        (stack(f"{_DEMAND} }}", f"{_DEMAND}, machines: {{ small: n1-highmem-16 }} }}"),),
        (
            stops("offer-unavailable", "tune", "(team demand)", "nor run at all", "Spot can't start"),
            hurts("machines-changed", "tune", "would run on `n1-highmem-16`"),
        ),
        given=(
            stack(_POLICY, "  slipway:machines: { small: n1-standard-8 }\n" + _POLICY),
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
        "The smaller case goes to Spot alone, for which there is no quota",
        (template("evals", _VARIANTS, _VARIANTS.replace("on-demand", "spot")),),
        (stops("offer-gone", "evals on-demand (suite=full)", "nor run at all", "Spot can't start"),),
        given=(imports("evals", "Variant"), more("evals", _VARIANTS)),
        world=World(
            jobs=(Job("evals-full", "evals", capacity_type="on-demand", parameters={"suite": "full"}),),
            limits={"preemptible_cpus": 8},
        ),
        may=("offer-added",),
        accident="a variant that was to be cheap, and ran nowhere",
    ),
)
