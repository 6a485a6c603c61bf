"""A command in somebody's folder: what it finds, what is kept of it, and how it ends.

Against the storage of the local cloud. Whole jobs of the template are run by tests/templates/test_script.py.
"""

import ast
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slipway.authoring.packages import source_package
from slipway.authoring.packages.folder_packages import FolderPackages
from slipway.authoring.packages.project_metadata import metadata_of
from slipway.authoring.packages.source_package import assemble, script_sources

from .conftest import Between, Bucket, put_launcher

MODULES = {
    name: content
    for name, content in {**source_package.launcher_sources(), **source_package.script_sources({})}.items()
    if "/" not in name
}
SHOWS = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"
UNREAD = "$HOME $(date) `date` ${x} $$ *.py ~ | cat > out && x; y #z"
WRITES = """
import os, pathlib, sys
output = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
(output / "deep").mkdir(exist_ok=True)
(output / "metrics.json").write_text("{}")
(output / "deep" / "größe 1.txt").write_text("a model")
(output / "empty").touch()
sys.exit(int(sys.argv[1]))
"""
LAST_WORDS = """
import os, pathlib, signal, sys, time
shell = os.getppid()
def save(*_):
    while os.getppid() == shell:  # It ends first by the same signal: else it might be told how this one ended.
        time.sleep(0.01)
    pathlib.Path(os.environ["SLIPWAY_OUTPUT"], "saved").write_text("at the notice")
    sys.exit(5)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:  # A signal just before one long sleep would be handled after it.
    time.sleep(0.1)
"""
SAVES = """
import os, pathlib, signal, sys, time
output = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
def save(*_):
    (output / "checkpoint").write_text("at the notice")
    sys.exit(3)
(output / "checkpoint").write_text("of before")
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""
HALF = """
import os, pathlib, time
file = pathlib.Path(os.environ["SLIPWAY_OUTPUT"], "half").open("wb")
file.write(b"half of ")
file.flush()
print("ready", flush=True)
time.sleep(600)
"""
READS = """
import os, pathlib
place = pathlib.Path(os.environ["SLIPWAY_DATA"])
print(sorted((str(one.relative_to(place)), one.read_text()) for one in place.rglob("*.*")))
"""


@dataclass
class Replica:
    """A machine that has the package installed. `output` is the job's."""

    folder: Path
    server: Between
    bucket: Bucket
    name: str
    more: dict[str, str] = field(default_factory=dict)

    @property
    def output(self) -> str:
        return f"gs://{self.bucket.name}/jobs/{self.name}"

    def install(self, files: Mapping[str, str], executable: Mapping[str, str] | None = None) -> None:
        executable = executable or {}
        packed = {name: text.encode() for name, text in {**files, **executable}.items()}
        sources = source_package.script_sources(packed, executable.keys())
        put_launcher(self.folder / "site")
        for name, content in sources.items():
            place = self.folder / "site" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)

    def start(self, command: str, *more: str, python: str = sys.executable) -> subprocess.Popen[str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        known = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(self.folder / "site")}
        known |= {"CLOUD_ML_JOB_ID": "11", "AIP_MODEL_DIR": f"{self.output}/model/"}
        launched = ("slipway_launcher", "--claim", f"{self.output}-claim", "--module", "slipway_script", "--")
        return subprocess.Popen(
            [python, "-m", *launched, f"--command={command}", f"--output={self.output}", *more],
            env={**known, **self.server.environ, **self.more},
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, command: str, *more: str, python: str = sys.executable) -> tuple[int, str, str]:
        process = self.start(command, *more, python=python)
        out, err = process.communicate()
        assert list((self.folder / "home").iterdir()) == [], "nothing is left"
        return process.returncode, out, err

    def kept(self) -> dict[str, bytes]:
        """Files of the output folder, by their path there."""
        return self.bucket.contents(f"jobs/{self.name}/")


@pytest.fixture
def replica(server: Between, bucket: Bucket, tmp_path: Path, request: pytest.FixtureRequest) -> Replica:
    made = Replica(tmp_path, server, bucket, request.node.name)
    made.install({"train.py": SHOWS, "write.py": WRITES, "wait.py": LAST_WORDS})
    return made


def test_the_folder_is_where_it_runs_and_its_modules_are_found(replica: Replica) -> None:
    replica.install(
        {
            "scripts/train.py": "import helpers.words, config, pathlib\n"
            "print(helpers.words.HELLO, config.LR, pathlib.Path('data/in.txt').read_text())\n",
            "helpers/words.py": "HELLO = 'hello'\n",
            "config.py": "LR = 0.1\n",
            "data/in.txt": "from a file",
            "run.sh": "#!/bin/sh\nexec python scripts/train.py\n",
        }
    )
    for command in ("python scripts/train.py", "python3 -m scripts.train", "./run.sh", "sh run.sh"):
        code, out, err = replica.run(command)
        assert (code, err) == (0, "") and "\nhello 0.1 from a file\n" in out


PROJECT = """
[project]
name = "my-train"
[project.scripts]  # ours
my-train = "my_train.cli:main"
"my.eval" = 'my_train.cli:Runs.evaluate'
[tool.poetry.scripts]
old = "my_train.cli:main"
[tool.other]
none = "my_train.cli:main"
"""
CLI = """
import sys
import tarfile
def main():
    print("trains", *sys.argv[1:])
    return 3
class Runs:
    evaluate = staticmethod(lambda: print("evaluates"))
"""


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("my-train --lr 0.1", 3, "trains --lr 0.1"),
        ("bash -c 'my-train && echo never'", 3, "trains"),
        ("my.eval", 0, "evaluates"),
        ("old x", 3, "trains x"),
        ("none", 70, ""),
    ],
)
def test_a_command_of_the_project_runs_as_where_it_is_installed(
    replica: Replica, command: str, code: int, said: str
) -> None:
    replica.install({"pyproject.toml": PROJECT, "src/my_train/__init__.py": "", "src/my_train/cli.py": CLI})
    ended, out, err = replica.run(command)
    assert ended == code and f"\n{said}" in out, (out, err)


def test_a_command_of_a_workspace_s_member_runs(replica: Replica) -> None:
    replica.install({"pyproject.toml": PROJECT, "apps/go/src/go/__init__.py": "", "apps/go/src/go/cli.py": CLI})
    (replica.folder / "site" / "slipway_sources.py").write_text(MEMBER)
    assert "\ntrains x\n" in replica.run("go-train x")[1]
    assert replica.run("go-no x")[0] == 70


WORDS = [
    ("--lr 0.1", ["--lr", "0.1"]),
    ("--name 'two words' --name=\"it's\"", ["--name", "two words", "--name=it's"]),
    (r"--path a\ b 'c\d'", ["--path", "a b", r"c\d"]),
    ("--json '{\"lr\": [0.1, null]}'", ["--json", '{"lr": [0.1, null]}']),
    ("'' \"\"", ["", ""]),
    (UNREAD, UNREAD.split()),
    ("größe '\u2603 \U0001f40d'", ["größe", "\u2603 \U0001f40d"]),
    ("--a\n  --b\t--c", ["--a", "--b", "--c"]),
    ("--command=x -- --output=y", ["--command=x", "--", "--output=y"]),
]


def test_words_arrive_as_a_shell_would_part_them_and_no_shell_reads_them(replica: Replica) -> None:
    code, out, _ = replica.run(f"python train.py {' '.join(typed for typed, _ in WORDS)}")
    assert (code, json.loads(out.splitlines()[-2])) == (0, [word for _, words in WORDS for word in words])


@pytest.mark.parametrize(
    ("command", "said"),
    [("python 'train.py", "the command can't be read"), (" ", "the command is empty")],
)
def test_what_is_no_command_is_said_with_the_way_out(replica: Replica, command: str, said: str) -> None:
    code, _, err = replica.run(command)
    assert code == 70
    assert f"error: {said}" in err and "fix: " in err


@pytest.mark.parametrize(
    ("command", "why", "fix"),
    [
        ("trian --lr 1", "the image of this machine has no program trian", "add a package that brings it"),
        ("LR=1 python train.py", "no shell reads the command", "env NAME=VALUE"),
        ("cd scripts", "no shell reads the command", "sh -c"),
        ("./bare.sh", "bare.sh does not begin with #!", "bash ./bare.sh"),
        ("./bare.py", "bare.py does not begin with #!", "python ./bare.py"),
        ("./zsh.sh", "its first line names the interpreter /usr/bin/nosuchsh, which this machine", "bash ./zsh.sh"),
        ("./dos.sh", "its line ends are those of Windows", "sed -i 's/\\r$//' ./dos.sh"),
        ("./absent.sh", "the job has no such file", "name a file of the folder"),
        ("./train.py", "train.py is not executable", "python ./train.py, or chmod +x it"),
        ("./data", "it is a folder", "name a program"),
        ("nvidia-smi", "has no program nvidia-smi", "a machine with a GPU"),
        ("torchrun train.py", "has no program torchrun", "uv add torch in a uv project"),
        ("poetry run train.py --lr 1", "has no program poetry", "python train.py --lr 1: the folder's packages"),
    ],
)
def test_what_can_not_be_run_is_said_with_the_way_out(replica: Replica, command: str, why: str, fix: str) -> None:
    files = {"data/x": "", "train.py": "", "zsh.sh": "#!/usr/bin/nosuchsh\n", "dos.sh": "#!/bin/sh\r\n"}
    replica.install(files, {"bare.sh": "echo\n", "bare.py": "print()\n"})
    code, _, err = replica.run(command)
    assert code == 70 and f"error: can't run {command.split()[0]!r}" in err and "Traceback" not in err
    assert why in err.partition("why: ")[2] and fix in err.partition("fix: ")[2], err


SHADOWS = dict.fromkeys(("types.py", "json.py", "logging.py", "enum.py"), "raise SystemExit('the wrong module')\n")


@pytest.mark.parametrize("command", ["python jobs/train.py", "bash -c 'exec python jobs/train.py'"])
def test_files_of_the_folder_hide_no_module_of_python(replica: Replica, command: str) -> None:
    """A types.py ended a job before its first line; json.py filled its log."""
    replica.install(
        {**SHADOWS, "jobs/train.py": "import json, logging, types, helpers\n", "helpers.py": "print('ran')\n"}
    )
    code, out, err = replica.run(command)
    assert (code, err) == (0, "") and "\nran\n" in out


def test_one_replica_that_was_asked_for_has_the_variables_of_several(replica: Replica) -> None:
    replica.install({"rank.py": "import os\nprint('rank', os.environ.get('RANK'), os.environ.get('WORLD_SIZE'))\n"})
    assert "\nrank None None\n" in replica.run("python rank.py")[1]
    replica.more["SLIPWAY_SETTINGS"] = '{"replicas": 1}'
    assert "\nrank 0 1\n" in replica.run("python rank.py")[1]
    replica.more["RANK"] = "own"
    assert "\nrank own 1\n" in replica.run("python rank.py")[1]


def test_a_session_starts_without_its_folder_on_the_path(replica: Replica) -> None:
    replica.install(SHADOWS)
    assert "usage: slipway_session" in replica.run("python -m slipway_session --help")[1]


def test_modules_of_the_folder_s_projects_come_before_the_image_s_packages(replica: Replica) -> None:
    """And the image's own sitecustomize is loaded as before."""
    site = replica.folder / "site"
    replica.install(
        {
            "train.py": "import os, acme, pytest\nprint(acme.X, pytest.X, os.environ['OWN'])\n",
            "libs/a/src/acme.py": "X = 1\n",
            "pytest.py": "X = 2\n",
        }
    )
    (site / "slipway_sources.py").write_text("FOLDERS = ['libs/a/src']\n")
    (site / "sitecustomize.py").write_text("import os\nos.environ['OWN'] = 'loaded'\n")
    code, out, err = replica.run("sh -c 'python -m train'")
    assert (code, err) == (0, "") and "\n1 2 loaded\n" in out


def test_the_metadata_of_the_folder_s_project_is_found(replica: Replica) -> None:
    """Code that takes its `__version__` from there starts, and finds its plug-ins."""
    project = '[project]\nname = "my.Train"\nversion = "1.2"\n[project.entry-points.runs]\na = "x:y"\n'
    files = {"pyproject.toml": project.encode(), "libs/a/pyproject.toml": b'[project]\nname = "b"\n'}
    replica.install({"train.py": METADATA})
    packages = FolderPackages(metadata=metadata_of(files, ["libs/a/src"]))
    packed = assemble("script", script_sources(files), packages).content
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extract("script-1.0/slipway_sources.py", replica.folder, filter="data")
    (replica.folder / "script-1.0/slipway_sources.py").rename(replica.folder / "site" / "slipway_sources.py")
    code, out, err = replica.run("python train.py")
    assert (code, err) == (0, "") and "\n1.2 0+unknown x:y\n" in out
    assert not metadata_of({**files, "pyproject.toml": b"[project]\ndependencies = []\n"}, [])


@pytest.mark.parametrize(
    ("signal_", "said"),
    [
        ("BUS", "135 (SIGBUS: most likely out of shared memory)"),
        ("ABRT", "134 (SIGABRT"),
        ("SEGV", "139 (SIGSEGV"),
        ("USR1", "138 (SIGUSR1)"),
    ],
)
def test_an_exit_code_of_a_signal_is_named(replica: Replica, signal_: str, said: str) -> None:
    assert f"the command ended with {said}" in replica.run(f"bash -c 'kill -{signal_} $$'")[1]


def test_what_it_wrote_is_kept_and_its_exit_code_is_the_jobs(replica: Replica) -> None:
    ended, out, _ = replica.run("python write.py 3")
    assert ended == 3
    assert replica.kept() == {"metrics.json": b"{}", "deep/größe 1.txt": b"a model", "empty": b""}
    assert "ended with 3; files kept: 3" in out


MEMBER = """FOLDERS = ['apps/go/src']
POINTS = '[console_scripts]\\ngo-train = go.cli:main\\n\\n[runs]\\ngo-no = x:y\\n'
METADATA = {'go-1.dist-info/entry_points.txt': POINTS}
"""
METADATA = """
from importlib.metadata import entry_points, version

print(version("my-train"), version("b"), entry_points(group="runs")["a"].value)
"""
BESIDE = """
from pathlib import Path
for name in ("lightning_logs/version_0/a.ckpt", "wandb/run", "__pycache__/x.pyc", "notes.txt"):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(b"x" * 50_000)
"""


def test_results_beside_the_code_are_listed_with_their_size_and_what_keeps_them(replica: Replica) -> None:
    replica.install({"beside.py": BESIDE, "train.py": SHOWS})
    code, out, _ = replica.run("python beside.py")
    assert code == 0
    assert "not kept, as it is not in $SLIPWAY_OUTPUT: 3 files, 150 kB beside the code: " in out
    assert "lightning_logs/ (1 file, 50 kB), notes.txt (1 file, 50 kB), wandb/ (1 file, 50 kB)" in out
    assert 'fix: Trainer(default_root_dir=os.environ["SLIPWAY_OUTPUT"])' in out
    assert "beside the code" not in replica.run("python train.py")[1]


def test_a_command_that_a_signal_ends_is_told_as_shells_do(replica: Replica) -> None:
    code, _, _ = replica.run("sh -c 'cd $SLIPWAY_OUTPUT; echo x > x; touch -d @1 x; kill -KILL $$'")
    assert code == 128 + signal.SIGKILL and replica.kept() == {"x": b"x\n"}


def test_a_notice_reaches_the_command_and_what_it_writes_then_is_kept(replica: Replica) -> None:
    process = replica.start("sh -c 'python wait.py; echo never'")
    assert process.stdout is not None
    assert any(line == "ready\n" for line in process.stdout)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode in (5, 128 + signal.SIGTERM)
    assert replica.kept() == {"saved": b"at the notice"}


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'python save.py 2>&1 | tee $SLIPWAY_OUTPUT/log >&2; true'",
        "sh -c 'sleep 600 & python save.py >&2'",
        "bash -c 'python half.py & python save.py >&2'",
    ],
)
def test_what_python_saves_at_a_notice_is_whole_whichever_helper_the_notice_kills(
    replica: Replica, command: str
) -> None:  # X5
    replica.install({"save.py": SAVES, "half.py": HALF})
    process = replica.start(command)
    assert process.stderr is not None and process.stdout is not None
    if "half.py" in command:
        assert any(line == "ready\n" for line in process.stdout)
    assert any(line == "ready\n" for line in process.stderr)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    kept = replica.kept()
    for log in ("log", "log.partial"):  # It was cut where the notice ended `tee`.
        kept.pop(log, None)
    halves = {"half.partial": b"half of "} if "half.py" in command else {}
    assert kept == {"checkpoint": b"at the notice", **halves}


def test_data_are_fetched_before_it_starts_and_without_them_it_does_not(replica: Replica) -> None:
    replica.install({"read.py": READS})
    replica.bucket.put("data/deep/a b.csv", b"1,2")
    replica.more["SLIPWAY_INPUT_DATA"] = f"gs://{replica.bucket.name}/data"
    assert "[('deep/a b.csv', '1,2')]" in replica.run("python read.py")[1]
    replica.more["SLIPWAY_INPUT_DATA"] = f"gs://{replica.bucket.name}/nowhere"
    code, out, err = replica.run("python train.py")
    assert code == 70 and "[]" not in out and "can't be copied" in err and "fix: " in err
    replica.more["SLIPWAY_INPUT_DATA"] = ""
    replica.install({"bare.py": "import os\nprint('SLIPWAY_DATA' in os.environ)\n"})
    assert "False" in replica.run("python bare.py")[1].splitlines()


def test_a_restart_that_finds_nothing_says_so_and_a_later_replica_is_none(replica: Replica) -> None:
    cluster = {"workerpool0": ["a:1"], "workerpool1": ["b:1"]}

    def said(kind: str) -> str:
        task = {"type": kind, "index": 0}
        replica.more["CLUSTER_SPEC"] = json.dumps({"cluster": cluster, "task": task})
        return replica.run("python train.py")[1]

    news = "starts again: no earlier start has kept anything of $SLIPWAY_OUTPUT; what it wrote elsewhere stays"
    assert not any("starts again" in said(kind) for kind in ("workerpool1", "workerpool0"))
    assert news in said("workerpool0"), "begins anew was no news of a template whose checkpoints are elsewhere"


def test_what_can_not_be_kept_hides_no_failure_of_its_own(replica: Replica) -> None:
    replica.server.handler.faults = [None, None, None, *[403] * 20]
    ended, _, err = replica.run("python write.py 3")
    assert ended == 3 and "not all" in err


@pytest.mark.parametrize("name", MODULES)
def test_its_syntax_is_that_of_python_3_8(name: str) -> None:
    ast.parse(MODULES[name], feature_version=(3, 8))


def test_it_runs_on_the_oldest_python_of_the_prebuilt_images(replica: Replica) -> None:
    uv = [sys.executable, "-m", "uv", "python", "find", "--no-python-downloads", "--no-project", ">=3.8,<3.11"]
    done = subprocess.run(uv, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no Python older than 3.11 on this machine")
    code, _, err = replica.run("python write.py 0", python=done.stdout.strip())
    assert code == 0, err


def test_it_runs_by_a_python_that_was_built_without_ctypes(replica: Replica) -> None:
    """A team's own image may have such a Python, where libffi was missing."""
    (replica.folder / "site" / "ctypes.py").write_text("raise ImportError('No module named _ctypes')")
    code, _, err = replica.run("python write.py 0")
    assert code == 0, err


def test_it_imports_the_standard_library_alone(replica: Replica) -> None:
    replica.install({})
    program = "import sys; before = set(sys.modules); import slipway_launcher; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(replica.folder / "site")},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {name.split(".")[0] for name in done.stdout.split()}
    own = {name.removesuffix(".py") for name in MODULES}
    assert imported - own <= set(sys.stdlib_module_names)
