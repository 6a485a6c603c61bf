"""A template written as gcloud's job file and read again is the same template, and so is its Python. # N13"""

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.gcloud.importing import Imported, Naming, read
from slipway.authoring.gcloud.job_file import job_file
from slipway.authoring.gcloud.python_source import python_source
from slipway.authoring.template.compile import request, usual_values
from slipway.authoring.template.load import load
from slipway.model.catalog.placeholders import fill
from slipway.model.kinds import KINDS
from slipway.template import Disk, Image, JobTemplate, NfsMount, Package, Scheduling, WorkerPool
from tests.slipway.authoring.template.conftest import CONTEXT

ROLES = ("chief", "workers", "parameter-servers", "evaluators")
WORDS = (
    "--steps=3",
    "yes",
    "0o17",
    "1:30",
    "null",
    "it's",
    'say "hi"',
    "$(HOME)/x",
    "ä ",
    "#no",
    "- a",
    "a: b",
    "\\n\n",
    '"$${HOME:-/root}"',
    "set -e\npython 'a.py' --name \"a\"\n" + "echo '\"$${HOME}\"' " * 9 + '\nexit "1"',
)
IMAGE = "us-docker.pkg.dev/acme/train/task@sha256:" + "0f" * 32
EXECUTOR = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest"
MACHINES = (("n1-standard-8", None, None), ("a3-highgpu-8g", None, None), ("n1-standard-8", "NVIDIA_TESLA_T4", 2))


def any_template(seed: int) -> JobTemplate:
    """Without parameters, which a file of one job can't have."""
    dice = random.Random(seed)

    def words(most: int) -> tuple[str, ...]:
        return tuple(dice.choice(WORDS) for _ in range(dice.randrange(most)))

    packaged = dice.random() < 0.5
    code = Package("jobs/lora", "lora.task", EXECUTOR) if packaged else Image(IMAGE, words(3))
    other = Package("jobs/lora", "lora.other", EXECUTOR) if packaged else Image(IMAGE, ("other",))
    capacity_type = dice.choice(("pool", "spot", "on-demand", "reservation", "flex-start"))
    # The service takes no apostrophe in a variable.
    variables = {f"NAME_{index}": one for index, one in enumerate(words(4)) if "'" not in one}
    own_env = dice.random() < 0.3
    pools = []
    for index in range(dice.randint(2 if own_env else 1, 4)):
        machine, accelerator, count = dice.choice(MACHINES)
        pools.append(
            WorkerPool(
                ROLES[index],
                machine,
                Disk("pd-ssd", dice.choice((100, 500))),
                accelerator,
                count,
                replicas=dice.randint(1, 5) if index else 1,
                args=(*words(5), "--output=${slipway.output}/model"),
                code=dice.choice((None, other)) if index else None,
                reservation=dice.choice(("any", "projects/p/zones/us-central1-a/reservations/r"))
                if capacity_type == "reservation"
                else None,
                env={"ROLE": ROLES[index], **variables} if own_env else {},
            )
        )
    if len(pools) > 2 and dice.random() < 0.5:
        del pools[1]
        pools[1] = WorkerPool(ROLES[2], "n1-standard-4", Disk("pd-ssd", 100), position=ROLES[2])
    return JobTemplate(
        name="imported",
        summary='of a "file"',
        code=code,
        worker_pools=tuple(pools),
        capacity_types=(capacity_type,),
        timeout_s=dice.choice((60, 7 * 24 * 3600)),
        env={} if own_env else variables,
        secrets={"TOKEN": "projects/acme/secrets/token/versions/latest"} if dice.random() < 0.3 else {},
        nfs_mounts=(NfsMount("10.0.0.2", "/data", "/mnt/nfs/data"),) if dice.random() < 0.3 else (),
        network=dice.choice((None, "projects/123/global/networks/vpc")),
        service_account=f"{dice.choice('abc')}@acme.iam.gserviceaccount.com",
        scheduling=Scheduling(
            max_wait_s=dice.choice((None, 0, 600)) if capacity_type == "flex-start" else None,
            restart_job_on_worker_restart=dice.random() < 0.5,
            disable_retries=dice.random() < 0.5,
        ),
        enable_web_access=dice.random() < 0.5,
        enable_dashboard_access=dice.random() < 0.5,
        experiment=dice.choice((None, "digits")),
    )


def exported(template: JobTemplate) -> str:
    packages = {code: f"gs://catalog/packages/{code.module}.tar.gz" for code in template.packages}
    capacity_type = template.capacity_types[0]
    cluster = "cpu" if capacity_type == "pool" else None
    # Whether the service would take such a mixture is another question.
    body = request(template, capacity_type, replace(CONTEXT, project="acme"), packages, cluster, refused=True)
    filled = fill(body, usual_values(template))
    return job_file(filled, KINDS["custom-job"], project="acme", region="us-central1", about="a test")


def imported(text: str) -> Imported:
    return read(text, "job.yaml", Naming("imported", 'of a "file"', "jobs/lora"))


@pytest.mark.parametrize("first", [0, 40])
def test_what_is_exported_is_imported_as_it_was(first: int) -> None:
    for seed in range(first, first + 40):
        template = any_template(seed)
        text = exported(template)
        assert imported(text).template == template, (seed, text)
        assert exported(imported(text).template) == text, seed


def test_the_python_loads_is_formatted_and_is_the_same_each_time(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    for seed in range(25):
        template = any_template(seed)
        source = python_source(template)
        (folder / "imported.py").write_text(source)
        (tmp_path / f"seed_{seed}.py").write_text(source)
        assert load(("imported",), folder) == (template,), source
        assert python_source(any_template(seed)) == source
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--diff", "--line-length", "120", "--no-cache"]
    done = subprocess.run([*ruff, *map(str, sorted(tmp_path.glob("seed_*.py")))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


SNAKE = f"""
worker_pool_specs:
  - machine_spec: {{machine_type: n1-standard-4}}
    replica_count: "1"
    container_spec:
      image_uri: {IMAGE}
      args: ["--out=gs://mine/run/model"]
scheduling: {{timeout: 600s, strategy: SPOT}}
base_output_directory: {{output_uri_prefix: gs://mine/run}}
"""


def test_snake_case_is_read_too(snapshot: SnapshotAssertion) -> None:
    found = imported(SNAKE)
    assert found.template.capacity_types == ("spot",) and found.template.timeout_s == 600
    assert "\n".join(map(str, found.notes)) == snapshot
