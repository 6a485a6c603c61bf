"""Texts that people have in place of a job file: a command line, a script, Terraform, a text half expanded. # N13"""

import re

import pytest

from slipway.authoring.gcloud.importing import Naming, read
from slipway.base.errors import ConfigError


def refused(text: str, file: str) -> ConfigError:
    with pytest.raises(ConfigError) as error:
        read(text, file, Naming("imported", "of a file"))
    return error.value


@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        (
            "launch.sh",
            "gcloud ai custom-jobs create \\\n  --worker-pool-spec=replica-count=1,script=train.sh\n",
            "a shell",
        ),
        ("notes.txt", "$ gcloud beta ai custom-jobs create --config=job.yaml\n", "a shell"),
        ("submit.sh", "#!/usr/bin/env bash\ncat > x <<YAML\nserviceAccount: a@${PROJECT}\nYAML\n", "a shell"),
        ("main.tf", 'resource "google_vertex_ai_custom_job" "training" {\n  display_name = "x"\n}\n', "Terraform"),
    ],
)
def test_a_script_and_terraform_are_told_in_one_sentence(file: str, text: str, what: str) -> None:
    error = refused(text, file)
    assert error.what.startswith(f"{file} is {what}") and "custom-jobs describe JOB" in str(error.fix)


def test_every_variable_that_nothing_expanded_is_told_at_the_first_try() -> None:
    error = refused(
        "serviceAccount: trainer@${PROJECT}.iam.gserviceaccount.com\n"
        "baseOutputDirectory: {outputUriPrefix: gs://runs/$RUN}\n"
        "workerPoolSpecs:\n"
        "  - machineSpec: {machineType: '${MACHINE_TYPE}', acceleratorCount: '${COUNT}'}\n"
        "    containerSpec: {imageUri: '${IMAGE}', args: ['--to=${BUCKET#gs://}']}\n",
        "job.yaml",
    )
    lines = dict(re.findall(r"job\.yaml:(\d).*\n?.*?'?(\$\{?[A-Z_#:/a-z]+\}?)", error.why))
    assert set(lines) == {"1", "2", "4", "5"}
    for name in ("${PROJECT}", "$RUN", "${MACHINE_TYPE}", "${COUNT}", "${IMAGE}", "${BUCKET#gs://}"):
        assert name in error.why, error.why


@pytest.mark.parametrize(
    ("file", "text"),
    [("train.py", "import argparse\n"), ("train", "#\nfrom torch import nn\nx = 1\n"), ("n.ipynb", "{}")],
)
def test_a_python_program_is_told_with_the_command_that_runs_it(file: str, text: str) -> None:
    error = refused(text, file)
    assert error.what == f"{file} is a Python program, and no job file"
    assert str(error.fix).startswith(f"slipway run {file}, which needs no template")
