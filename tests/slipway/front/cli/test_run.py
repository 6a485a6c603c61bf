"""`slipway run`: a command in this folder, as a job that is followed. # N25"""

import json
import shlex
from pathlib import Path

import pytest

from slipway.model.rules.code import SCRIPT
from slipway.using.submission.own_command import command_line
from tests.checkouts.git import git

from .stack import Stack
from .test_code import opened, uploaded


@pytest.fixture
def open_to_commands(stack: Stack) -> Stack:
    """A stack whose `hello` runs any command, in a folder with `train.py`."""
    opened(stack)
    template = stack.catalog["templates"]["hello"]
    template["parameters"][0] |= {"name": "command", "command": True, "default": "python train.py"}
    for offer in template["offers"]:
        package = offer["request"]["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
        package["args"] = [*package["args"][:3], SCRIPT, "--", "--command=${command}"]
    stack.publish()
    (stack.folder / ".git").rmdir()
    (stack.folder / "train.py").write_text("import os, sys\nprint('lr', os.environ.get('LR'), *sys.argv[1:])\n")
    git(stack.folder, "init", "-q")
    return stack


@pytest.mark.journey
def test_a_python_file_runs_here_with_its_flags_and_is_followed(open_to_commands: Stack) -> None:
    done = open_to_commands.well("run", "--env", "LR=0.1", "train.py", "--epochs", "2", "a b")
    assert "main  lr 0.1 --epochs 2 a b" in done.out.splitlines(), done.out
    assert open_to_commands.run("run", "--", "python", "-c", "raise SystemExit(3)").code == 4
    assert "the command ended with 3" in open_to_commands.run("jobs", "show", "hello").out
    (row, *_) = open_to_commands.run("jobs", "list").out.splitlines()[1:]
    assert "python -c 'raise SystemExit(3)'" in row


def test_json_is_one_document_of_the_plan_the_job_or_its_end(open_to_commands: Stack) -> None:
    said = open_to_commands.well("run", "--dry-run", "--output", "json", "train.py").out
    assert json.loads(said)["kind"] == "submission-plan"
    said = open_to_commands.well("run", "--detach", "-o", "json", "train.py").out
    assert json.loads(said)["job"]["ended"] is False


def test_the_commands_of_a_sweep_are_checked_before_anything_is_sent(open_to_commands: Stack) -> None:
    (open_to_commands.folder / "a.py").write_text("import uncommon\n")
    sweep = open_to_commands.folder / "s.csv"
    words = ("submit", "hello", "--code", ".", "--sweep", "s.csv", "--dry-run")
    sweep.write_text("command\npython train.py\npython nope.py\n")
    done = open_to_commands.run(*words)
    assert done.code == 2 and "has no nope.py, which the command starts" in done.err
    sweep.write_text("command\npython a.py x.txt\npython a.py ../x\npython a.py ../x 2\n")
    done = open_to_commands.well(*words)
    assert (done.out + done.err).count("../x is not in the folder") == 1


@pytest.mark.journey
def test_json_waits_for_the_end_of_a_job_that_is_not_detached(open_to_commands: Stack) -> None:
    done = open_to_commands.run("run", "-o", "json", "--", "python", "-c", "raise SystemExit(3)")
    assert done.code == 4 and json.loads(done.out)["job"]["state"] == "failed"


@pytest.mark.journey
def test_packages_in_src_are_found_as_where_the_project_is_installed(open_to_commands: Stack) -> None:
    package = open_to_commands.folder / "src" / "catdog"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("NAME = 'catdog'\n")
    (open_to_commands.folder / "pyproject.toml").write_text("[project]\nname = 'catdog'\n")
    (open_to_commands.folder / "train.py").write_text("import catdog\nprint(catdog.NAME)\n")
    done = open_to_commands.well("run", "train.py")
    assert "main  catdog" in done.out.splitlines(), done.out


@pytest.mark.journey
def test_a_command_of_the_project_runs_by_its_name(open_to_commands: Stack) -> None:
    package = open_to_commands.folder / "catdog"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("import sys\ndef main(): print('trains', *sys.argv[1:])\n")
    (open_to_commands.folder / "pyproject.toml").write_text("[project.scripts]\ncatdog = 'catdog:main'\n")
    for flags in (("--lr", "0.1"), ()):
        done = open_to_commands.well("run", "catdog", *flags)
        assert " ".join(["main  trains", *flags]) in done.out.splitlines(), done.out


def test_a_program_of_the_image_needs_no_folder(open_to_commands: Stack, tmp_path: Path) -> None:
    open_to_commands.well("run", "--detach", "--", "nvidia-smi")
    (job,) = open_to_commands.jobs()
    assert uploaded(open_to_commands) == [] and "slipway-code" not in job["labels"]
    open_to_commands.well("run", "-d", "--request-id", "r1", "python train.py | tee log")
    assert len(uploaded(open_to_commands)) == 1
    (tmp_path / "notes").touch()
    open_to_commands.well("run", "-d", "--code", str(tmp_path / "notes"), "ls")
    assert len(uploaded(open_to_commands)) == 2, "what is named is sent"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("train.py", "--lr", "0.1"), "python train.py --lr 0.1"),
        (("train.py",), "python train.py"),
        (("train.py --lr 0.1",), "python train.py --lr 0.1"),
        (("python", "-c", "print('a b')"), "python -c 'print('\"'\"'a b'\"'\"')'"),
        (("python train.py | tee log",), "bash -o pipefail -c 'python train.py | tee log'"),
        (("python", "-c", "print(f'{x}')"), "python -c 'print(f'\"'\"'{x}'\"'\"')'"),
        (("nvidia-smi",), "nvidia-smi"),
        (("it's",), "bash -c 'it'\"'\"'s'"),
        (("",), ""),
        (("train.py && echo hi",), "bash -c 'python train.py && echo hi'"),
        (("train.py | tee log",), "bash -o pipefail -c 'python train.py | tee log'"),
        (("train.sh", "a b"), "bash train.sh 'a b'"),
        (("./train.sh",), "./train.sh"),
        (("my train.py", "--lr", "1"), "python 'my train.py' --lr 1"),
        (("my train.py",), "python 'my train.py'"),
        (("my train.py --lr 1",), "my train.py --lr 1"),
        (("exit 7",), "bash -c 'exit 7'"),
        (("exit", "7"), "bash -c 'exit 7'"),
        (("ulimit -n",), "bash -c 'ulimit -n'"),
        (("source env.sh",), "bash -c 'source env.sh'"),
        (("LR=1", "python", "train.py", "{x}"), "bash -c 'LR=1 python train.py '\"'\"'{x}'\"'\"''"),
    ],
)
def test_words_are_one_line_for_a_shell(words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    (tmp_path / "my train.py").touch()
    assert command_line(words, tmp_path) == line


def test_a_parameter_has_one_meaning_in_a_line_and_in_words(open_to_commands: Stack) -> None:
    for command in (("python train.py --lr {lr} {{x}}",), ("--", "python", "train.py", "--lr", "{lr}", "{{x}}")):
        done = open_to_commands.well("run", "--dry-run", "-o", "json", "-p", "lr=a b", *command)
        assert "python train.py --lr 'a b' '{x}'" in done.out, done.out
    for unfilled in (("python train.py --lr {lr}",), ("train.py", "--lr", "{lr}")):
        refused = open_to_commands.run("run", "--dry-run", *unfilled)
        assert refused.code == 2 and "command has {lr}, and no parameter lr is given" in refused.err, refused.err
        assert "fix: -p lr=VALUE, or for these very characters {{lr}}" in refused.err
    refused = open_to_commands.run("run", "--dry-run", "-p", "rate=0.1", "train.py")
    assert "unknown parameter rate, and command has no {rate}" in refused.err
    assert "fix: write {rate} in the command, where its value belongs" in refused.err


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("--dry-run --code ../py t.py --lr 1 --dry-run", "--dry-run --code ../py t.py --lr 1"),
        ("-p x=1 t.py --machine n1-standard-4 --lr 1", "-p x=1 --machine n1-standard-4 t.py --lr 1"),
        ("t.py --machine=a2 --dry-run --lr 1 --max-run 2h", "--machine=a2 --dry-run --max-run 2h t.py --lr 1"),
        ("--env A=1 t.py --secret A=b --env-file .env", "--env A=1 --secret A=b --env-file .env t.py"),
    ],
)
def test_a_flag_behind_the_command_comes_before_it_with_those_that_are_there(
    open_to_commands: Stack, words: str, fix: str
) -> None:
    refused = open_to_commands.run("run", *words.split())
    place = words.index("t.py")
    explicit = f"slipway run {words[:place]}-- {words[place:]}"
    assert f"fix: slipway run {fix}, or {explicit}\n" in refused.err, refused.err
    assert refused.code == 2 and not open_to_commands.jobs()


def test_a_command_stands_behind_the_flags_of_run_alone(open_to_commands: Stack) -> None:
    refused = open_to_commands.run("run", "--dry-run", "-p", "command=python train.py", "train.py")
    assert refused.code == 2 and "fix: slipway run 'python train.py'" in refused.err, refused.err
    refused = open_to_commands.run("run", "--dry-run", "")
    assert refused.code == 2 and "the command is empty" in refused.err, refused.err


def test_a_sessions_command_has_no_parameters_and_keeps_its_braces(tmp_path: Path) -> None:
    words = ("python", "train.py", "{x}", "{{x}}")
    assert shlex.split(command_line(words, tmp_path)) == [*words]


def test_what_nothing_can_run_is_refused(open_to_commands: Stack) -> None:
    (open_to_commands.folder / "nb.ipynb").write_text("{}")
    (open_to_commands.folder / "src").mkdir()
    (open_to_commands.folder / "app").mkdir()
    (open_to_commands.folder / "app" / "__main__.py").touch()
    for words, said in {
        ("--lr", "0.1", "train.py"): "fix: slipway run COMMAND --lr …, as the command's own flags stand behind it",
        ("train.py", "--dry-run"): "fix: slipway run --dry-run train.py, or slipway run -- train.py --dry-run",
        ("train.py", "--max-run=2h"): "--max-run stands behind the command",
        ("--machine", "a2", "train.py"): "hello has no choice of machines",
        ("--", "--help"): "fix: slipway run --help",
        ("--", "--lr", "0.1"): "--lr stands in the place of a command",
        ("src/",): "fix: slipway run --code src/ COMMAND",
        ("train.py > out", "--lr", "1"): "fix: 'train.py > out …', all of it in quotes",
        ("src",): "src is a folder, and no program",
        ("app/", "--lr", "1"): "fix: slipway run python app/",
        ("nb.ipynb",): "fix: --code nb.ipynb, and python nb.py as the command",
        ("--code", "s3://b/x", "train.py"): "'s3://b/x' is no address of code",
    }.items():
        refused = open_to_commands.run("run", *words)
        assert refused.code == 2 and said in refused.err and not open_to_commands.jobs(), refused.err
    open_to_commands.well("run", "--dry-run", "--", "train.py", "--dry-run")
    refused = open_to_commands.run("run", "--template", "nap", "train.py")
    assert refused.code == 2 and "fix: slipway run --template hello …" in refused.err, refused.err
    assert open_to_commands.run("run").code == 2
    open_to_commands.catalog["templates"]["hello"]["codeFlag"] = False
    open_to_commands.publish()
    refused = open_to_commands.run("run", "train.py")
    assert refused.code == 2 and "runs a command in a folder of yours" in refused.err and not open_to_commands.jobs()


@pytest.mark.parametrize("sweep", [False, True])
def test_a_mistyped_parameter_is_told_before_the_files_that_the_usual_command_needs(
    open_to_commands: Stack, sweep: bool
) -> None:
    (open_to_commands.folder / "train.py").rename(open_to_commands.folder / "t.py")
    (open_to_commands.folder / "points.yaml").write_text("grid: {comand: [python t.py, python t.py --fast]}\n")
    given = ("--sweep", "points.yaml") if sweep else ("-p", "comand=python t.py")
    refused = open_to_commands.run("submit", "hello", "--code", ".", *given)
    assert refused.code == 2 and "did you mean command?" in refused.err, refused.err
    assert "train.py" not in refused.err and not open_to_commands.jobs()
    refused = open_to_commands.run("submit", "hello", "--code", ".")
    assert refused.code == 2 and "train.py" in refused.err, refused.err


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("submit", "train.py"), "fix: slipway run train.py"),
        (("submit", "train.py", "--lr", "0.1"), "fix: slipway run train.py --lr 0.1"),
        (("submit", "./train.sh"), "fix: slipway run ./train.sh"),
        (("exec", "python", "train.py"), "fix: slipway run"),
    ],
)
def test_who_names_a_file_is_told_the_command(open_to_commands: Stack, words: tuple[str, ...], fix: str) -> None:
    refused = open_to_commands.run(*words)
    assert refused.code == 2 and fix in refused.err, refused.err
