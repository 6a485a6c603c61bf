"""docs/first-stack.md, typed line by line where nothing but the wheel and git, make and Python are, and what its
repository's README has beside it. # D8 # N4 # N13"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from slipway.model.identity import Identity
from tests.checkouts.bytecode import sharing_uv
from tests.checkouts.laptop import UV
from tests.checkouts.shell import Done, bash
from tests.docs.console import commands, missing
from tests.local.conftest import FAST, ROOT

pytestmark = pytest.mark.journey
PAGE = ROOT / "docs" / "first-stack.md"
CATALOG, _ = Identity("acme-training", "dev").buckets("acme-ml-dev")
STACK, BOOTSTRAP = Path("stacks", "Pulumi.dev.yaml"), Path("bootstrap", "Pulumi.ci.yaml")
ASKS = "slipway init acme-training"
PERSON = 'eval "$(make shell AS=submitter)"; export SLIPWAY_USER=ada'
WHERE = "import slipway.components.program as program; print(program.__file__)"


@dataclass(frozen=True)
class Shell:
    """A shell of somebody of a platform team, in a folder."""

    folder: Path
    environ: Mapping[str, str]

    def type_(self, line: str) -> Done:
        return bash(f"set -e; {line}", self.folder, self.environ)

    def well(self, line: str) -> str:
        done = self.type_(line)
        assert done.code == 0, f"{line}:\n{done.out}"
        return done.out


@pytest.fixture
def shell(tmp_path: Path, deploying: Path) -> Iterator[Shell]:
    """Yield a shell with `slipway` as uvx would run it, uv, and no variable that leads to this checkout. What `make
    demo` starts in its repository is cleared, and leaves nothing."""
    programs, folder = tmp_path / "bin", tmp_path / "our work"
    programs.mkdir()
    folder.mkdir()
    (programs / "uv").write_text(sharing_uv(UV))
    (programs / "uv").chmod(0o755)
    (programs / "slipway").symlink_to(deploying / "bin" / "slipway")
    ours = ("PYTHON", "VIRTUAL_ENV", "PULUMI_", "SLIPWAY_", "VERTEX_LOCAL_", "GIT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    path = [str(programs), *(word for word in os.environ["PATH"].split(os.pathsep) if word != str(UV.parent))]
    who = {f"GIT_{word}_{key}": "ada@acme.example" for word in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    laptop = {"VERTEX_LOCAL_PORT": "0", "VERTEX_LOCAL_SET": ",".join(FAST), "PYTHON": sys.executable}
    begun = Shell(folder, {**kept, **who, **laptop, "PATH": os.pathsep.join(path), "NO_COLOR": "1"})
    yield begun
    made = folder / "acme-training"
    replace(begun, folder=made).well("make demo-down")
    assert not (made / ".vertex-local").exists()


@pytest.mark.smoke
def test_a_platform_team_begins_as_the_page_says(shell: Shell) -> None:
    (line,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for told in commands(PAGE):
        typed = re.sub(r"^uvx --from '[^']*' ", "", told.command)  # what has just been built stands for it
        if typed == ASKS:
            continue
        if typed.startswith("cd "):
            shell = replace(shell, folder=shell.folder / typed.removeprefix("cd "))
            continue
        if typed == "make demo":
            it_checks_itself_by_the_pinned_wheel(shell)
            early = shell.type_("make review BASE=main")
            assert early.code and "fix: make demo STACK=dev" in early.out, early.out
        if typed.startswith("make review"):
            edit(shell.folder / STACK, line)
        said = shell.well(typed)
        assert missing(told.shown, said) == [], f"{told.command}:\n{said}"
        assert typed != "make test" or "Ran 1 test" in said, said
    its_people_submit_and_its_files_stay(shell)


def it_checks_itself_by_the_pinned_wheel(shell: Shell) -> None:
    """Nothing of this checkout is on any path."""
    pins = (shell.folder / "requirements.txt").read_text()
    assert re.search(r"^slipway-vertex\[deploy\] @ file://\S+\.whl#sha256=[0-9a-f]{64}$", pins, re.MULTILINE)
    found = shell.well(f".venv/bin/python -P -c '{WHERE}'").strip()
    assert Path(found).is_relative_to(shell.folder / ".venv")
    assert "ok  dev" in shell.well("make check")


def its_people_submit_and_its_files_stay(shell: Shell) -> None:
    catalog = f"slipway use gs://{CATALOG}"
    assert "hello ada" in shell.well(f"{PERSON}; {catalog}; slipway submit hello -p who=ada --follow")
    # What is typed on a stack is of the laptop where none is named, and gives the engine a copy of its file.
    for line in ("make select", "make preview", "make events", "make up ARGS=--yes"):
        shell.well(line)
    assert "deployer" in shell.well("make shell"), "who is meant where nobody is named"
    drift = shell.well('eval "$(make shell AS=previewer)"; slipway drift .slipway/dev.events')
    assert "nobody changed anything of stack dev by hand" in drift
    asked = shell.type_("make bootstrap LAPTOP=1")
    assert asked.code and "does not say which repository is let in" in asked.out
    declared = shell.well(f"sed -i 's/repository: .*/repository: \"4711\"/' {BOOTSTRAP}; make bootstrap LAPTOP=1")
    assert "gcp:serviceaccount:Account acme-ml-dev-slipway-deploy-dev create" in declared
    assert shell.well("git status --short").splitlines() == [f" M {BOOTSTRAP}", f" M {STACK}"]
    # What was submitted is noted with the laptop's state, apart from that of real clouds.
    assert list((shell.folder / ".vertex-local" / "journal" / "requests" / "acme-ml-dev").rglob("*.json"))


def edit(file: Path, line: str) -> None:
    """Put the page's line in the place of the one with the same key."""
    key = line.split(":")[0]
    before = file.read_text("utf-8")
    after = re.sub(rf"^{key}:.*\n", lambda _: line, before, flags=re.MULTILINE)
    assert after != before
    file.write_text(after, "utf-8")
