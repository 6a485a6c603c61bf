"""Forks of this repository: copies of the checkout with a team's edits of its own files."""

import re
import shutil
import subprocess
from pathlib import Path

from tests.checkouts.git import git
from tests.ci.conftest import ROOT

_TEMPLATE = '''"""tell: says a word."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="tell",
    summary="says a word",
    code=Package("jobs/tell", "tell.task", "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"),
    worker_pools=(WorkerPool("main", "n1-standard-8", Disk("pd-ssd", 100), args=("--word=${word}",)),),
    parameters=(Parameter("word", str, default="hello", help="what is said"),),
    capacity_types=("pool", "on-demand"),
)
'''
_STACK = """config:
  gcp:project: duck-gpu
  gcp:region: europe-west4
  gcp:addPulumiAttributionLabel: "false"
  slipway:persistentResources:
    mine:
      pools:
        all: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 1, max: 4 } }
      until: 2027-03-01
    theirs:
      id: team-a-h100
      pools:
        all: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: 1 }
  slipway:quota: { mode: warn, contactEmail: crew@duck.example }
  slipway:templates: [tell]
  slipway:workspace:
    submitters: ["group:everybody@duck.example"]
    workBucket: duck-results
  slipway:policy:
    advisory:
      mostCost: 1
"""


def renamed(folder: Path) -> None:
    """Rename stacks and teams, in the workflows too; remove a stack and a template, and add a template."""
    _copy(folder)
    (folder / "stacks" / "Pulumi.staging.yaml").unlink()
    for old, new in (("dev", "lab"), ("prod", "live")):
        file = folder / "stacks" / f"Pulumi.{old}.yaml"
        text = file.read_text().replace(f"acme-ml-{old}", f"duck-{new}").replace("acme.example", "duck.example")
        file.with_name(f"Pulumi.{new}.yaml").write_text(_offering(text.replace(", gemma2-lora", ""), "tell, "))
        file.unlink()
    (folder / "templates" / "gemma2_lora.py").unlink()
    shutil.rmtree(folder / "jobs" / "gemma2_lora")
    _add_template(folder)
    for file in (folder / ".github" / "workflows").iterdir():
        text = file.read_text().replace('"dev","staging","prod"', '"lab","live"')
        file.write_text(text.replace("dev, staging, prod]", "lab, live]"))
    owners = folder / ".github" / "CODEOWNERS"
    kept = [line for line in owners.read_text().splitlines() if "staging" not in line]
    text = "\n".join(kept).replace("Pulumi.dev.", "Pulumi.lab.").replace("@acme/ml-platform", "@duck/crew")
    owners.write_text(f"{text}\n")
    _commit(folder)


def replaced(folder: Path) -> None:
    """Leave one stack, one template and one owner, all the team's; of the shipped ones, only the laptop's stack
    stays."""
    _copy(folder)
    for name in ("dev", "staging", "prod"):
        (folder / "stacks" / f"Pulumi.{name}.yaml").unlink()
    (folder / "stacks" / "Pulumi.gpu.yaml").write_text(_STACK)
    local = folder / "stacks" / "Pulumi.local.yaml"
    local.write_text(re.sub(r"(slipway:templates:) \[.*\]", r"\1 [tell]", local.read_text()))
    for name in ("templates", "jobs"):
        shutil.rmtree(folder / name)
        (folder / name).mkdir()
    _add_template(folder)
    (folder / ".github" / "CODEOWNERS").write_text("* @duck/crew ada@duck.example\n")
    _commit(folder)


def _copy(folder: Path) -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def _offering(text: str, more: str) -> str:
    return text.replace("slipway:templates: [", f"slipway:templates: [{more}")


def _add_template(folder: Path) -> None:
    (folder / "templates" / "tell.py").write_text(_TEMPLATE)
    job = folder / "jobs" / "tell"
    job.mkdir()
    (job / "__init__.py").touch()
    (job / "task.py").write_text('"""Say it."""\n\nimport sys\n\nprint(sys.argv[1:])\n')


def _commit(folder: Path) -> None:
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Ours")):
        git(folder, *words)
