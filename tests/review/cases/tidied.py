"""Harmless changes by an author who had read neither the review nor its corpus."""

from tests.review.case import silent, stack, template

CASES = (
    silent(
        "Writes the pool of h100 over several lines and sorts its keys, for readable diffs",
        stack(
            (
                "      pools:\n"
                "        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: "
                "{ min: 2, max: 4 } }\n"
                "      replacement: rollover\n"
                "      retireWithin: 2w\n"
                "      labels: { team: platform, cost-center: research }\n"
            ),
            (
                "      labels:\n"
                "        cost-center: research\n"
                "        team: platform\n"
                "      retireWithin: 14d\n"
                "      pools:\n"
                "        workers:\n"
                "          replicas: { max: 4, min: 2 }\n"
                "          machine: a3-highgpu-8g\n"
                "          disk:\n"
                "            sizeGb: 500\n"
                "            type: pd-ssd\n"
            ),
        ),
    ),
    silent(
        "Sorts the submitters and says who they are",
        stack(
            (
                "      - group:ml@acme.example\n"
                "      - user:ada@acme.example\n"
                "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n"
            ),
            (
                "      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com # the cron of platform\n"
                "      - user:ada@acme.example # from the university, not in the group\n"
                "      - group:ml@acme.example\n"
            ),
        ),
    ),
    silent(
        "Tidies lora: machines by a helper, capacity types by name",
        template(
            "lora",
            "TEMPLATE = JobTemplate(\n",
            (
                'CHEAP_FIRST = ("spot", "flex-start", "on-demand")\n'
                'HELD_FIRST = ("pool", "reservation", "spot")\n'
                "HOUR = 3600\n"
                "\n"
                "\n"
                "def tuner(machine: str, disk_gb: int, **more: str) -> tuple[WorkerPool, ...]:\n"
                '    return (WorkerPool("tuner", machine, Disk("pd-ssd", disk_gb), args=ARGS, **more),)\n'
                "\n"
                "\n"
                "TEMPLATE = JobTemplate(\n"
            ),
        ),
        template(
            "lora",
            '    worker_pools=(WorkerPool("tuner", "a2-highgpu-1g", Disk("pd-ssd", 200), args=ARGS),),\n',
            '    worker_pools=tuner("a2-highgpu-1g", 200),\n',
        ),
        template(
            "lora", '    capacity_types=("spot", "flex-start", "on-demand"),\n', "    capacity_types=CHEAP_FIRST,\n"
        ),
        template(
            "lora",
            (
                "        Variant(\n"
                '            {"model": "27b"},\n'
                "            (\n"
                "                WorkerPool(\n"
                '                    "tuner",\n'
                '                    "a3-highgpu-8g",\n'
                '                    Disk("pd-ssd", 500),\n'
                "                    args=ARGS,\n"
                '                    reservation="bought",\n'
                "                ),\n"
                "            ),\n"
                '            ("pool", "reservation", "spot"),\n'
                "        ),\n"
            ),
            '        Variant({"model": ("27b",)}, tuner("a3-highgpu-8g", 500, reservation="bought"), HELD_FIRST),\n',
        ),
        template("lora", "7200", "2 * HOUR"),
        template("lora", "86_400", "24 * HOUR"),
    ),
    silent(
        "Writes out in tune what the service would choose anyway",
        template("tune", 'Metric("accuracy")', 'Metric("accuracy", "maximize")'),
        template(
            "tune",
            '        parallel_trials="${parallel}",\n',
            (
                '        parallel_trials="${parallel}",\n'
                '        algorithm="bayesian",\n'
                "        max_failed_trials=0,\n"
                '        measurement="best",\n'
            ),
        ),
        template(
            "tune",
            "    timeout_s=3600,\n",
            ('    capacity_types=("pool",),\n    timeout_s=3600,\n    checkpoints=False,\n'),
        ),
    ),
    silent(
        "digits: nicer words, numbers that can be read",
        template(
            "digits",
            "hyperparameter search of a digit classifier, spread over the workers",
            "searches hyperparameters of a digit classifier on many small machines",
        ),
        template("digits", 'help="worker machines"', 'help="machines that fit trees, each with 8 CPUs"'),
        template("digits", "max=5000", "max=5_000"),
        template("digits", "timeout_s=3600", "timeout_s=60 * 60"),
    ),
    silent(
        "evals' variable belongs to the judge",
        template("evals", '    env={"REGION": "us-central1"},\n', ""),
        template("evals", '"--batch=${batch}")),', '"--batch=${batch}"), env={"REGION": "us-central1"}),'),
    ),
)
