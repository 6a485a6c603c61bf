"""docs/upgrading.md: its commands move a checkout, and what it promises is what is promised elsewhere. # D8

That a deployed stack goes through it, by the same commands and with the real engine: tests/end_to_end/test_moving.py.
"""

import re
import shutil
from pathlib import Path

import yaml

from local.plugin import VERSION
from tests.checkouts import nap
from tests.checkouts.laptop import here

from .console import commands

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "upgrading.md"
TEXT = PAGE.read_text("utf-8")
STACK = """config:
  gcp:project: acme-ml-prod
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:persistentResources:
    cpu:
      pools:
        all: { machine: n1-standard-4, replicas: 1, disk: { type: pd-ssd, sizeGb: 100 } }
  slipway:templates: [nap]
"""


def moving() -> str:
    """The commands that move a fork's own files, as one script of a shell in the fork."""
    return "\n".join(typed.command for typed in commands(PAGE) if not typed.command.startswith(("make", "uvx")))


def test_a_fork_moves_with_its_name_its_stacks_and_its_templates(tmp_path: Path) -> None:
    fork, small = tmp_path / "fork", tmp_path / "acme-training"
    nap.lay_out(fork)
    project = fork / "Pulumi.yaml"
    project.write_text(re.sub("^name: .*", "name: ours", project.read_text(), flags=re.MULTILINE))
    (fork / "stacks" / "Pulumi.prod.yaml").write_text(STACK)

    done = here(fork).run("/bin/bash", "-ec", moving())
    assert done.code == 0 and "ok  prod" in done.out, done.said
    assert yaml.safe_load((small / "Pulumi.yaml").read_text())["name"] == "ours"
    assert [file.name for file in (small / "stacks").glob("Pulumi.*")] == ["Pulumi.prod.yaml"]
    assert {file.name for file in (small / "templates").glob("*.py")} == {"nap.py"}
    assert (small / "jobs" / "nap" / "task.py").read_text() == nap.NAP_TASK
    assert (small / "__main__.py").read_text() != (fork / "__main__.py").read_text(), "the program of three lines"
    (renewing,) = (typed.command for typed in commands(PAGE) if typed.command.startswith("uvx"))
    assert here(small).run(*renewing.split()[3:], "--yes").code == 0
    assert yaml.safe_load((small / "Pulumi.yaml").read_text())["name"] == "ours", "an upgrade keeps it"
    shutil.rmtree(fork)
    assert here(small).run("slipway", "check").code == 0, "nothing of the fork is needed"


def test_each_release_has_its_row() -> None:
    released = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    rows = re.findall(r"^\| (\S+) \| (\S+) \|", TEXT, re.MULTILINE)[1:]
    assert [to for _, to in rows[1:]] + [rows[-1][0]] == released


def test_it_names_the_provider_that_the_stand_in_shows() -> None:
    assert f"behaves as {VERSION} does" in TEXT
