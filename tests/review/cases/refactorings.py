"""Harmless changes of templates and of job code."""

from tests.review.case import Edit, silent, template

CASES = (
    silent("A bound is written as a power", template("lora", "max=256", "max=2**8")),
    silent("A timeout is written as a product", template("lora", "86_400", "24 * 3600")),
    silent("What Python leaves beside a job's code", Edit("jobs/lora/__pycache__/task.cpython-311.pyc", "", "bytes\n")),
    silent("A disk's size is left out, which is the default", template("tune", '"pd-ssd", 100', '"pd-ssd"')),
    silent("A parameter's bounds with a point", template("digits", "min=1, max=5000", "min=1.0, max=5000.0")),
    silent("The launcher said", template("evals", 'command=("judge",),', 'command=("judge",), launcher=True,')),
    silent("An image's name in two parts", template("evals", "acme-ml/evals/judge@", 'acme-ml/evals/" "judge@')),
)
