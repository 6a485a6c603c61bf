"""A look at a folder before it is sent: what its command names, and what is not packed. # N11 # N25"""

import os
import re
import shutil
from pathlib import Path

import pytest

from slipway.authoring.packages.folder_check import require_named
from slipway.authoring.packages.working_tree import IGNORES, read
from slipway.base.errors import ConfigError
from tests.checkouts.git import git

from .folder import folder, told, typed

__all__ = ["folder"]

OUTSIDE = (
    "! {} is not in the folder, which is all that the job has: data goes into a bucket: -p data=gs://BUCKET/FOLDER"
)


@pytest.mark.parametrize(
    ("command", "what", "fix"),
    [
        ("python trian.py --data x", "has no trian.py, which the command starts", "did you mean train.py?"),
        ("bash run.sh", "has no run.sh", "did you mean scripts/run.sh?"),
        ("bash -c 'cd x; python3 -u absent.py | tee log'", "has no x/absent.py", ""),
        ("bash -lc 'cd scripts && python trian.py'", "has no scripts/trian.py", "did you mean train.py?"),
        ("bash -euo pipefail -c 'set -x; python trian.py'", "has no trian.py", "did you mean train.py?"),
        ("python 'my trian.py'", "has no my trian.py", "did you mean my train.py?"),
        ("torchrun --nproc_per_node=2 absent/train.py", "has no absent/train.py", ""),
        ("./absent.sh", "has no absent.sh", ""),
        ("python 'scripts\\run.sh'", "has no scripts\\run.sh", "did you mean scripts/run.sh?"),  # of cmd.exe
        ("'.\\scripts\\run.sh'", "has no .\\scripts\\run.sh", "did you mean scripts/run.sh?"),
        ("python secret.py", "starts secret.py, which is not packed", "git add -f secret.py"),
        ("/bin/bash /scripts/run.sh", "the command starts /scripts/run.sh", "did you mean scripts/run.sh?"),
        ("bash -c 'source env.sh && python train.py'", "has no env.sh", ""),
        ("bash -c 'source .venv/bin/activate && python train.py'", "reads .venv/bin/activate", "leave it out"),
        ("bash -c '. scripts/rum.sh && python train.py'", "has no scripts/rum.sh", "did you mean scripts/run.sh?"),
        ("bash -c 'set -a; . ./.env; python train.py'", "reads .env, which is not packed", "--env-file .env"),
        ("python ../beside.py", "starts ../beside.py, which is not packed", ", and beside.py in the command"),
    ],
)
def test_a_command_whose_script_is_not_packed_is_refused(folder: Path, command: str, what: str, fix: str) -> None:
    (folder / ".env").touch()
    with (folder / ".gitignore").open("a") as ignored:
        ignored.write("\n.env\n")
    (folder.parent / "beside.py").touch()  # aws/sagemaker-python-sdk 312
    with pytest.raises(ConfigError) as error:
        require_named(read(folder), folder, command)
    assert what in error.value.what and fix in str(error.value.fix)


@pytest.mark.parametrize(
    "command",
    [
        "python train.py --data data/small.csv",
        "bash scripts/run.sh",
        "python -m train absent.py",
        "python -c 'print(1)' absent.py",
        "nvidia-smi",
        "/opt/run.sh",
        "python 'unbalanced",
        "",
        "accelerate launch other.py",
        "bash -c 'cd scripts && bash run.sh'",
        "bash -c 'source scripts/run.sh && python train.py'",
        "bash -c 'source /opt/env.sh && python train.py'",
        "bash -c 'cd scripts/.. && python train.py'",
        "bash -c 'cd $HOME; python absent.py'",
        "bash -c 'python train.py > made.py && python made.py'",
        "bash -c 'git clone https://a/b && python b/main.py'",
        "bash -c 'gcloud storage cp gs://a/main.py . ; python main.py'",
        "python {script}.py",
        "./tool.sh",
        "./tool",
    ],
)
def test_what_may_run_is_not_refused(folder: Path, command: str) -> None:
    require_named(read(folder), folder, command)


@pytest.mark.parametrize("word", [".", "./", "--dir=.", "scripts/..", "scripts/.", "./scripts/../scripts/"])
def test_the_folder_itself_and_a_folder_with_packed_files_are_packed(folder: Path, word: str) -> None:
    assert f"{word} (" not in told(folder, f"sh -c 'pip install -e {word} && bash scripts/run.sh'")


def test_a_script_of_this_machine_outside_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "else where").mkdir()
    script = tmp_path / "else where" / "train.py"
    script.touch()
    with pytest.raises(ConfigError, match="which is not packed") as error:
        require_named(read(folder), folder, f"python '{script}' --lr 1")
    assert error.value.fix == f"--code '{script.parent}', and train.py in the command"
    require_named(read(folder), folder, f"python {tmp_path}/absent.py")


def test_what_the_command_or_the_code_names_and_git_ignores_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / "far").symlink_to(tmp_path / "elsewhere")
    lines = told(
        folder, f"python train.py --config=local.yaml --out ../elsewhere {tmp_path}/elsewhere far/x"
    ).splitlines()
    assert lines[0].startswith("! not packed, and named: --config=local.yaml (git ignores it), ../elsewhere (of this")
    assert lines[1].startswith("  ") and "-p data=gs://BUCKET/FOLDER" in lines[1]
    by_code = told(folder, "python train.py")
    assert "! not packed, and named: data/ (git ignores it)" in by_code and "model.bin: packed as pointers" in by_code
    alone = told(folder, "python train.py data/small.csv")
    assert "to pack it: git add -f" not in alone or "data" in alone


@pytest.mark.parametrize(
    ("place", "fix"),
    [("configs", "cd ..; or --code .."), ("a/b", "cd ../..; or --code ../..")],
)
def test_a_script_that_lies_further_up_in_the_checkout_is_found(
    folder: Path, place: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Type `run train.py` in a folder below: near names there are no better guess."""
    (folder / place / "more").mkdir(parents=True)
    (folder / place / "more" / "train.py").touch()
    (folder.parent / "outside.py").touch()
    monkeypatch.chdir(below := folder / place)
    with pytest.raises(ConfigError) as error:
        require_named(read(below), below, "python train.py")
    assert str(error.value.fix) == fix and error.value.why == "it lies in project, above"
    with pytest.raises(ConfigError, match=r"has no outside.py") as error:
        require_named(read(below), below, "python outside.py")
    assert "--code" not in str(error.value.fix)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--config configs/bg.yaml", "! configs/bg.yaml is not in the folder: did you mean configs/big.yaml?"),
        (
            "--config=configs/prod.yaml",
            "! configs/prod.yaml is not in the folder, which has configs/big.yaml beside it",
        ),
        ("--config bse.yaml", "! bse.yaml is not in the folder: did you mean base.yaml?"),
        ("--config other.yaml", ""),
        ("--config configs/other.json", ""),
        ("--config configs/{name}.yaml", ""),
        ("--config configs/big.yaml", ""),
        ("--save-config configs/bg.yaml", ""),
        ("--out=configs/bg.yaml", ""),
        ("../data/x.csv", OUTSIDE.format("../data/x.csv")),
        ("--data=configs/../../data", OUTSIDE.format("configs/../../data")),
        ("--out ../runs", ""),
        ("configs/../base.yaml", ""),
    ],
)
def test_a_file_that_the_command_names_and_nobody_has_is_told(folder: Path, words: str, line: str) -> None:
    (folder / "configs").mkdir()
    (folder / "configs" / "big.yaml").touch()
    (folder / "base.yaml").touch()
    lines = told(folder, f"python train.py {words}").splitlines()
    assert line in lines if line else not any("is not in the folder" in each for each in lines), lines
    by_shell = told(folder, f"bash -c 'cd configs && python ../train.py {words}'")
    assert OUTSIDE.partition("{}")[2] not in by_shell, "it starts from there"


def test_a_small_folder_that_git_ignores_may_be_packed_and_a_large_one_not(folder: Path) -> None:
    assert "  to pack it: git add -f data/; data goes into a bucket" in told(folder, "python train.py")
    with (folder / "data" / "large.bin").open("wb") as file:
        file.truncate(40_000_000)
    assert "git add" not in told(folder, "python train.py")


def test_folders_that_ignore_themselves_are_no_news(folder: Path) -> None:
    """`jobs download` makes such a folder for each job; git lists it and its files."""
    (folder / "train.py").write_text("print(1)\n")
    fetched = folder / "script-b7k2m4xa"
    (fetched / "tb").mkdir(parents=True)
    (fetched / "tb" / "events").touch()
    (fetched / ".gitignore").write_text("*\n")
    (line, *_) = told(folder, "python train.py").splitlines()
    assert line == "not packed: data/ (git ignores it), local.yaml (git ignores it), secret.py (git ignores it)"


@pytest.mark.parametrize(
    ("command", "why", "fix"),
    [
        ("./bare.sh", "does not begin with #!", "bash bare.sh"),
        ("./dos.sh", "line ends are those of Windows", "sed -i 's/\\r$//' dos.sh"),
        ("bash dos.sh", "line ends are those of Windows", "sed -i 's/\\r$//' dos.sh"),
        ("python nb.ipynb", "is a notebook", "--code nb.ipynb, and python nb.py as the command"),
        ("python {folder}/train.py", "a path of this machine", "did you mean train.py?"),
    ],
)
def test_a_script_that_can_t_start_is_refused(folder: Path, command: str, why: str, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        require_named(read(folder), folder, command.format(folder=folder))
    assert why in error.value.why and fix in str(error.value.fix), str(error.value)


def test_names_that_no_text_has_are_told(folder: Path) -> None:
    git(folder, "add", ".")
    (folder / ".gitignore").write_text("*.txt\n")
    Path(folder, os.fsdecode(b"\xe4.txt")).touch()
    assert "not packed" in told(folder, "python train.py").encode().decode()


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("from lib.util import x", "python train.py"),  # flyteorg/flyte 5492
        ("import os, lib", "python train.py"),
        ("from .lib import util", "python train.py"),
        ("from . import lib", "python train.py"),
        ("pass", "python -m lib.util"),
    ],
)
def test_a_package_that_is_imported_and_not_packed_is_told(folder: Path, line: str, command: str) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "x.csv").touch()
    (folder / ".gitignore").write_text("lib/\n")
    (folder / "train.py").write_text(f"{line}\n")
    assert "to pack it" not in told(folder, command), "a folder of data of a library's name"
    (folder / "lib" / "util.py").touch()
    lines = told(folder, command)
    assert "! not packed, and named: lib/ (git ignores it)" in lines
    (fix,) = re.findall(r"to pack it: (.*); data", lines)
    typed(folder, fix)
    assert "named: lib/" not in told(folder, command)


def test_a_file_of_variables_is_not_put_into_git(folder: Path) -> None:
    (folder / ".gitignore").write_text(".env\n")
    (folder / ".env").write_text("LR=1\n")
    (folder / "train.py").write_text("load_dotenv('.env')\n")
    lines = told(folder, "python train.py")
    assert (
        "in place of .env: --env NAME=VALUE, and --secret NAME=SECRET for a key; " in lines and "git add" not in lines
    )


def test_the_way_in_is_no_command_of_git_where_there_is_no_checkout(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    with pytest.raises(ConfigError, match="which is not packed") as error:
        require_named(read(folder), folder, "python secret.py")
    assert str(error.value.fix) == "take its line out of .gitignore"


def test_a_script_that_calls_the_kernel_of_a_notebook_is_told(folder: Path) -> None:  # jupyter/nbconvert 503
    (folder / "train.py").write_text("get_ipython().run_line_magic('matplotlib', 'inline')\n")
    assert "! train.py calls get_ipython(), which only the kernel of a notebook has" in told(folder, "python train.py")


def test_the_rule_that_leaves_a_file_out_is_named(folder: Path) -> None:
    (folder / "current").symlink_to("data")
    assert "current/small.csv (a link to data)" in told(folder, "python train.py current/small.csv")
    (folder / IGNORES).write_text("scripts/\n")
    lines = told(folder, "python train.py scripts/run.sh data/small.csv")
    assert f"scripts/run.sh ({IGNORES} leaves it out), data/small.csv (git ignores it)" in lines


@pytest.mark.parametrize("path", ["/home/ada/data/small.csv", "/Users/ada/x", "~/nowhere/x.csv"])
def test_a_path_of_somebody_s_home_is_told_whether_it_is_there_or_not(folder: Path, path: str) -> None:
    assert f"{path} (of this machine, outside of the folder)" in told(folder, f"python train.py --data {path}")


def test_a_path_of_the_folder_on_this_machine_is_told_as_that(folder: Path) -> None:  # fcdl94/MiBv2 3
    (folder / "x.csv").touch()
    lines = told(folder, f"python train.py --root={folder}/x.csv {folder}/data --out /dev/null")
    assert f"{folder}/x.csv (of this machine: x.csv in the job)" in lines and "/data (of this machine: data in" in lines
    assert "/dev/null" not in lines and "/bin/bash" not in told(folder, "/bin/bash scripts/run.sh")


def test_a_file_of_settings_names_what_git_ignores(folder: Path) -> None:  # vinayakakv/android-malware-detection 3
    (folder / "train.py").write_text("print(1)\n")
    (folder / ".pre-commit-config.yaml").write_text("exclude: data/\n")
    assert "named: data/" not in told(folder, "python train.py")
    (folder / "conf.yaml").write_text("train: ${env:PWD}/data/small.csv\n")
    assert "! not packed, and named: data/ (git ignores it)" in told(folder, "python train.py")


@pytest.mark.parametrize(
    "command",
    [
        "python trian.py",
        "bash run.sh",
        "python secret.py",
        "python outer.py",
        "python left.py",
        "./bare.sh",
        "bash dos.sh",
        "python {folder}/train.py",
    ],
)
def test_the_fix_of_each_refusal_works_as_it_is_typed(folder: Path, tmp_path: Path, command: str) -> None:  # N25
    """`git add -f` did nothing for what .slipwayignore leaves out, and for a link."""
    (tmp_path / "elsewhere.py").write_text("print(1)\n")
    (folder / "outer.py").symlink_to(tmp_path / "elsewhere.py")
    (folder / "left.py").touch()
    (folder / IGNORES).write_text("left.py\n")
    command = command.format(folder=folder)
    with pytest.raises(ConfigError) as error:
        require_named(read(folder), folder, command)
    fix = str(error.value.fix)
    if near := re.fullmatch(r"did you mean (.*)\?", fix):
        command = f"python {near[1]}" if near[1].endswith(".py") else f"bash {near[1]}"
    elif fix == f"take its line out of {IGNORES}":
        (folder / IGNORES).write_text("")
    elif fix.startswith(("bash ", "python ")):
        command = fix
    else:
        typed(folder, fix)
    require_named(read(folder), folder, command)


def test_the_fix_of_each_line_works_as_it_is_typed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # N25
    command = "python train.py --config local.yaml"
    (fix,) = re.findall(r"to pack it: (.*); data", told(folder, command))
    typed(folder, fix)
    assert "local.yaml" not in told(folder, command)
    (folder / IGNORES).write_text("scripts/run.sh\n")
    assert f"scripts/run.sh ({IGNORES} leaves it out)" in told(folder, "python train.py scripts/run.sh")
    library = folder.parent / "library"
    library.mkdir()
    git(library, "init", "-q")
    (library / "a.py").touch()
    git(library, "add", ".")
    git(library, "commit", "-qm", "one")
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    git(folder, "submodule", "--quiet", "deinit", "-f", "lib")
    lines = told(folder, "python train.py")
    with pytest.raises(ConfigError, match=r"has no lib/a.py") as error:
        require_named(read(folder), folder, "python lib/a.py")
    (fix,) = re.findall(r"a submodule that is not fetched: (.*)", lines)
    assert error.value.why == "lib is a submodule that is not fetched" and str(error.value.fix) == fix
    for name, value in {"COUNT": "1", "KEY_0": "protocol.file.allow", "VALUE_0": "always"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    typed(folder, fix)
    assert "submodule" not in told(folder, "python train.py")


@pytest.mark.parametrize(
    ("name", "line", "module"),
    [
        ("train.py", "from app.third_party.net import f", "app/third_party/net"),  # tub-rip/event_based_bos 5
        ("app/main.py", "from .third_party.net import f", "app/third_party/net"),
        ("app/main.py", "from ..outer import f", "outer"),
        ("train.py", "import app.net", "app/net"),
        ("train.py", "import app.mian", "app/mian"),
        ("train.py", "from app import x; import app.net", "app/net"),
        ("train.py", "import os, app.net", "app/net"),
        ("train.py", "print('x; import app.net')", ""),
        ("train.py", "from app.model import f", ""),
        ("train.py", "from app import anything", ""),
        ("train.py", "from lib.net import f", ""),
        ("train.py", "from app.kept.net import f", ""),
        ("train.py", "try:\n    from app.net import f\nexcept ImportError: ...", ""),
        ("app/tests/test_x.py", "from app.net import f", ""),
    ],
)
def test_a_module_of_an_own_package_that_is_nowhere_is_told(folder: Path, name: str, line: str, module: str) -> None:
    for made in ("app/__init__.py", "app/main.py", "app/model.so", "app/kept/net.py", "app/tests/__init__.py"):
        (folder / made).parent.mkdir(exist_ok=True, parents=True)
        (folder / made).touch()
    (folder / ".gitignore").write_text("kept/\n")
    (folder / name).write_text(f"{line}\n")
    lines = told(folder, "python train.py")
    assert (f"! {module} (by {name}): imported, and not in the folder" in lines) == bool(module), lines
    assert ("imported, and" in lines) == bool(module)
    assert (": did you mean" in lines, ": did you mean app.main?" in lines) == ((module == "app/mian",) * 2)


def test_what_dvc_keeps_and_has_not_fetched_is_told(folder: Path) -> None:
    (folder / "sets").mkdir()
    (folder / "sets" / "a.csv.dvc").write_text("deps:\n- path: other.csv\nouts:\n- md5: 1\n  size: 2\n  path: a.csv\n")
    line = "! sets/a.csv: DVC has the content, and has not fetched it: dvc pull"
    assert line in told(folder, "python train.py")
    (folder / "sets" / "a.csv").touch()
    (folder / "sets" / ".gitignore").write_text("/a.csv\n")
    lines = told(folder, "python train.py --data sets/a.csv")
    assert line not in lines and "sets/a.csv (git ignores it)" in lines and "git add -f sets" not in lines


def test_what_nothing_names_is_told_once_and_dot_files_are_not(folder: Path) -> None:
    (folder / "train.py").write_text("print(1)\n")
    (folder / ".cache").mkdir()
    (folder / ".gitignore").write_text("data/\n.cache/\nlocal.yaml\n")
    first = told(folder, "python train.py").splitlines()[0]
    assert first == "not packed: data/ (git ignores it), local.yaml (git ignores it)"


def test_folders_that_code_writes_are_left_out_and_not_lacking(folder: Path) -> None:
    """`SummaryWriter()` writes into runs/, and a laptop's earlier curves are nothing that a job reads."""
    default = "os.environ.get('SLIPWAY_OUTPUT', 'results')"
    (folder / "train.py").write_text(f"log = SummaryWriter('runs/')\nout = {default}\nopen('data/')\n")
    (folder / ".gitignore").write_text("runs/\nresults/\ndata/\n")
    for name in ("runs", "results"):
        (folder / name).mkdir()
        (folder / name / "old").touch()
    assert told(folder, "python train.py").splitlines()[0] == "! not packed, and named: data/ (git ignores it)"
    assert "! not packed, and named: runs" in told(folder, "python plot.py runs/old")
    (folder / "train.py").write_text(f"log = SummaryWriter('runs/')\nout = {default}\n")
    assert told(folder, "python train.py").splitlines()[0].startswith("not packed: data/ (git ignores it), results/")


def test_a_script_that_this_python_can_t_read_is_told_and_sent(folder: Path) -> None:
    (folder / "train.py").write_text("print 'two'\n")
    assert "! train.py:1: Missing parentheses" in told(folder, "python train.py")
    assert "Missing" not in told(folder, "bash scripts/run.sh")


@pytest.mark.parametrize(
    "name",
    [
        *("environment.yml", "environment.yaml", "conda.yaml", "Pipfile", "poetry.lock", "app/requirements.txt"),
        *("requirements-gpu.txt", "requirements/base.txt", "requirements.in", "setup.py"),
    ],
)
def test_a_list_of_packages_for_another_installer_or_place_is_told(folder: Path, name: str) -> None:  # N25
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("setup(install_requires=read())")
    assert f"! what {name} lists is not installed: " in told(folder, "python train.py")
    (folder / "requirements.txt").write_text("six\n")
    assert "not installed" not in told(folder, "python train.py"), "as the fix writes it"


@pytest.mark.parametrize("name", ["requirements-dev.txt", "docs/requirements.txt", "a/b/requirements.txt"])
def test_other_lists_of_packages_are_no_news(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text("six")
    assert "not installed" not in told(folder, "python train.py")
    (folder / "requirements-gpu.txt").write_text("six")
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\ndependencies = ['six']\n")
    assert "not installed" not in told(folder, "python train.py"), "the project's are"


@pytest.mark.parametrize(
    ("inner", "project", "own", "is_told"),
    [
        ("src", "[project]\n", "", True),
        ("mytrain", "[tool.poetry]\n", "__init__.py", True),
        ("src", "[tool.ruff]\n", "", False),
        ("src", "[project]\n", "requirements.txt", False),
        ("jobs", "[project]\n", "", False),
    ],
)
def test_a_project_one_folder_up_is_named(
    folder: Path, inner: str, project: str, own: str, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / inner).mkdir()
    for name in filter(None, ("train.py", own)):
        (folder / inner / name).touch()
    (folder / "pyproject.toml").write_text(project)
    monkeypatch.chdir(folder / inner)
    line = "! pyproject.toml of project, one folder up, is not installed: cd .., or --code .."
    assert (line in told(folder / inner, "python train.py").splitlines()) == is_told
