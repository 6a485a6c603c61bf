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
