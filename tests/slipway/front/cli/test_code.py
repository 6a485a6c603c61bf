"""`--code`: the working tree on a reviewed template, labelled with what it is. # N8 # N11"""

import re
import shutil
from pathlib import Path

import pytest

from slipway.authoring.packages.packing import pack
from slipway.authoring.packages.working_tree import read
from slipway.base import codec
from slipway.model.catalog.model import Catalog
from slipway.model.rules.code import SCRIPT
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps import sweep_file
from slipway.using.sweeps.sweep_plan import plan_sweep
from tests.checkouts.git import git

from .stack import Stack, held

IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"
TASK = "import sys, hello.words\nprint(hello.words.GREETING, *sys.argv[1:])\n"


def opened(stack: Stack) -> Stack:
    """Publish `hello` as a package that --code may replace."""
    template = stack.catalog["templates"]["hello"]
    template |= {"codeFlag": True, "package": f"gs://c-{stack.name}/packages/reviewed.tar.gz"}
    for offer in template["offers"]:
        spec = offer["request"]["jobSpec"]["workerPoolSpecs"][0]
        del spec["containerSpec"]
        claim = f"gs://w-{stack.name}/claims/${{slipway.request}}"
        spec["pythonPackageSpec"] = {
            "executorImageUri": IMAGE,
            "packageUris": ["${slipway.package}"],
            "pythonModule": "slipway_launcher",
            "args": ["--claim", claim, "--module", "hello.task", "--", "--say=${code}"],
        }
    stack.publish()
    return stack


@pytest.fixture
def open_to_code(stack: Stack) -> Stack:
    return opened(stack)


@pytest.fixture
def source(stack: Stack) -> Path:
    return checked_out(stack)


def checked_out(stack: Stack) -> Path:
    """Make the stack's folder a checkout with the import package in `src`, one file of it new."""
    package = stack.folder / "src" / "hello"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "task.py").write_text(TASK)
    (stack.folder / ".git").rmdir()
    git(stack.folder, "init", "-q")
    git(stack.folder, "add", "src")
    git(stack.folder, "commit", "-qm", "begin")
    (package / "words.py").write_text("GREETING = 'hello from the working tree'\n")
    return package


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")


def uploaded(stack: Stack) -> list[str]:
    listed = stack.cloud.rest("GET", f"/storage/v1/b/w-{stack.name}/o?prefix=code/")
    return [entry["name"] for entry in listed.get("items", [])]


@pytest.mark.journey
def test_the_working_tree_is_what_runs(open_to_code: Stack, source: Path) -> None:
    done = open_to_code.well("submit", "hello", "--code", "./src", "-p", "code=again", "--follow")
    assert "main  hello from the working tree --say=again" in done.out.splitlines()
    (name,) = uploaded(open_to_code)
    assert f"src @ {head(source)[:7]}-dirty  3 files, " in done.err and name in done.err
    assert "kB with slipway's launcher  →  gs://" in done.err, "which is most of it, of a single file"
    labels = open_to_code.jobs()[0]["labels"]
    assert labels["slipway-code"] == name.split("/")[1][:40]
    assert labels["slipway-code-commit"] == head(source) and labels["slipway-dirty"] == "true"


def test_a_command_without_its_folder_is_refused(open_to_code: Stack, source: Path) -> None:  # N11
    """Without the folder, the reviewed example would run and succeed."""
    template = open_to_code.catalog["templates"]["hello"]
    template["parameters"][0] |= {"name": "command", "command": True}
    for offer in template["offers"]:
        package = offer["request"]["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
        package["args"] = [*package["args"][:3], SCRIPT, "--", "--command=${command}"]
    open_to_code.publish()
    assert open_to_code.well("templates", "show", "hello").err.endswith("slipway submit hello --code . -p command=…\n")
    words = ("submit", "hello", "-p", "command=python train.py")
    (open_to_code.folder / "s.csv").write_text("command\npython train.py\n")
    for refused in (words, (*words, "--dry-run"), ("submit", "hello", "--sweep", "s.csv")):
        done = open_to_code.run(*refused)
        assert done.code == 2 and "hello is given a command, and no folder to run it in" in done.err, done.err
        assert "  fix: add --code .\n" in done.err
    assert open_to_code.jobs() == []
    (open_to_code.folder / "src" / "train.py").touch()
    open_to_code.well(*words, "--code", "src")
    open_to_code.well("submit", "hello")


def test_neither_a_mistake_nor_a_dry_run_puts_code_there(open_to_code: Stack, source: Path) -> None:
    words = ("submit", "hello", "--code", "src")
    (open_to_code.folder / "s.csv").write_text("cod\na\n")
    for wrong in (("-p", "cod=a"), ("--sweep", "s.csv")):
        assert open_to_code.run(*words, *wrong).code == 2
    done = open_to_code.run(*words[:-1], "nowhere")
    assert done.code == 2 and "nowhere is not a folder" in done.err and "fix: --code ./src, for example" in done.err
    done = open_to_code.well(*words, "--dry-run")
    (uri,) = done.json["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["packageUris"]
    assert uri.startswith(f"gs://w-{open_to_code.name}/code/") and uri in done.err
    (open_to_code.folder / "s.csv").write_text("code\na\nb\n")
    assert open_to_code.well(*words, "--sweep", "s.csv", "--dry-run").json["count"] == 2
    assert uploaded(open_to_code) == [] and open_to_code.jobs() == []


def test_an_id_that_ran_other_code_is_refused(open_to_code: Stack, source: Path) -> None:
    words = ("submit", "hello", "--code", "src", "--request-id", "nightly-1")
    open_to_code.well(*words)
    (source / "words.py").write_text("GREETING = 'changed'\n")
    done = open_to_code.run(*words)
    assert done.code == 2 and "used before, for something else" in done.err and "code: " in done.err


def test_where_it_is_not_allowed_it_is_refused(stack: Stack, source: Path) -> None:
    done = stack.run("submit", "hello", "--code", "src")
    assert done.code == 5 and "code that was reviewed with" in done.err
    assert uploaded(stack) == [] and stack.jobs() == []


def test_a_sweep_runs_it_too_and_a_lost_answer_to_the_upload_is_asked_again(open_to_code: Stack, source: Path) -> None:
    (open_to_code.folder / "s.csv").write_text("code\na\nb\n")
    with open_to_code.faults({"kind": "lost-answer", "match": r"^POST /upload/.*/o$", "times": 1}):
        open_to_code.well("submit", "hello", "--code", "src", "--sweep", "s.csv")
    assert len({job["labels"]["slipway-code"] for job in open_to_code.jobs()}) == 1 and len(open_to_code.jobs()) == 2
    assert len(uploaded(open_to_code)) == 1


SWEEP = ("submit", "hello", "--capacity", "pool", "--code", "src", "--sweep", "s.csv")


def codes(stack: Stack) -> list[tuple[str, str]]:
    """The run and the code of each job of a sweep, in the order of their runs."""
    labels = (job["labels"] for job in stack.jobs())
    return sorted((label["slipway-run"], label["slipway-code"]) for label in labels if "slipway-run" in label)


@pytest.fixture
def begun(open_to_code: Stack, source: Path) -> Stack:
    """A sweep of three runs from a folder, killed when the first was sent."""
    stack = open_to_code
    held(stack)
    (stack.folder / "s.csv").write_text("code\na\nb\nc\n")
    with stack.started(*SWEEP, "--rate", "1") as sending:
        stack.until(lambda: len(codes(stack)) == 1)
        sending.kill()
    return stack


def test_notes_beside_the_code_make_no_other_sweep(begun: Stack, source: Path) -> None:  # N7 # N25
    """A new notes.txt, the runs.csv that our page tells people to write, a notebook's autosave: all runs were sent once
    more, as another sweep."""
    for name in ("notes.txt", "runs.csv", "look.ipynb"):
        (source / name).write_text("1\n")
    done = begun.well(*SWEEP)
    assert " with the code that sweep hello-" in done.err and "the folder's is " in done.err
    assert len(codes(begun)) == 3 and len({code for _, code in codes(begun)}) == 1
    again = begun.well(*SWEEP)
    assert len(codes(begun)) == 3 and "0 submitted now, 3 before" in again.out


def test_the_rest_of_a_sweep_whose_code_changed_is_asked_about(begun: Stack, source: Path) -> None:  # N7 # N25
    """Each line of the fix is typed as it stands."""
    ((_, old),) = codes(begun)
    (source / "words.py").write_text("GREETING = 'changed'\n")
    refused = begun.run(*SWEEP)
    assert refused.code == 2 and "left to send" in refused.err and len(codes(begun)) == 1, refused.err
    fixes = re.findall(r"began with: (--keep-code)\n +all again with the folder's: (--request-id \S+)", refused.err)
    ((keep, anew),) = fixes
    assert begun.run(*SWEEP, "--dry-run").code == 2
    begun.well(*SWEEP, *anew.split())
    new = {code for _, code in codes(begun)} - {old}
    assert [run for run, code in codes(begun) if code in new] == ["0", "1", "2"] and len(new) == 1
    assert "0 submitted now, 3 before" in begun.well(*SWEEP).out, "the same command is that sweep from then on"
    shutil.rmtree(begun.folder / ".slipway" / "sweeps")
    assert "0 submitted now, 3 before" in begun.well(*SWEEP).out, "on any machine"
    (source / "words.py").write_text("GREETING = 'once more'\n")
    begun.well(*SWEEP, keep)
    assert [run for run, code in codes(begun) if code == old] == ["0", "1", "2"] and len(codes(begun)) == 6


@pytest.mark.parametrize(("typed", "sent"), [("old", 3), ("new", 4)])
def test_a_terminal_is_asked_which_code_it_is(begun: Stack, source: Path, typed: str, sent: int) -> None:
    (source / "words.py").write_text("GREETING = 'changed'\n")
    done = begun.asked(*SWEEP, answer=typed)
    assert done.code == 0 and len(codes(begun)) == sent, done.err


def test_what_failed_is_sent_once_more_with_the_code_as_it_was_mended(open_to_code: Stack, source: Path) -> None:
    """It said that none had failed, as the mended code had made another sweep. # N7 # N25"""
    stack = open_to_code
    (source / "task.py").write_text("raise SystemExit(1)\n")
    (stack.folder / "s.csv").write_text("code\na\nb\n")
    assert stack.run(*SWEEP, "--wait").code == 4
    (source / "task.py").write_text(TASK)
    before = stack.well(*SWEEP)
    assert "0 submitted now, 2 before" in before.out and "the folder has changed since sweep hello-" in before.err
    mended = stack.well(*SWEEP, "--retry-failed", "--wait")
    assert "2 runs with the folder's code as it is now" in mended.err
    assert [run for run, _ in codes(stack)] == ["0", "0-1", "1", "1-1"] and len({code for _, code in codes(stack)}) == 2


def test_a_name_of_a_sweep_keeps_its_code_on_any_machine(open_to_code: Stack, source: Path) -> None:  # N7
    held(open_to_code)
    (open_to_code.folder / "s.csv").write_text("code\na\n")
    open_to_code.well(*SWEEP, "--request-id", "nightly")
    shutil.rmtree(open_to_code.folder / ".slipway" / "sweeps")
    git(open_to_code.folder, "add", "src")
    (source / "words.py").write_text("GREETING = 'changed'\n")
    for _ in range(2):
        done = open_to_code.well(*SWEEP, "--request-id", "nightly")
        assert "0 submitted now, 1 before" in done.out and "has changed since sweep nightly began" in done.err
    refused = open_to_code.run("submit", "hello", "--sweep", "s.csv", "--capacity", "pool", "--request-id", "nightly")
    assert refused.code == 2 and "nightly was begun with other runs" in refused.err
    assert len(open_to_code.jobs()) == 2, "with the one that holds the pool"


def test_a_sweep_of_an_earlier_version_is_found_by_its_name(open_to_code: Stack, source: Path) -> None:  # N7 # N8
    """Its name had the folder's code in it."""
    held(open_to_code)
    (open_to_code.folder / "s.csv").write_text("code\na\nb\n")
    earlier = earlier_name(open_to_code)
    assert open_to_code.well(*SWEEP, "--dry-run").json["sweep"] != earlier
    open_to_code.well(*SWEEP, "--request-id", earlier)
    for journals in (True, False):
        if not journals:
            shutil.rmtree(open_to_code.folder / ".slipway" / "sweeps")
        done = open_to_code.well(*SWEEP)
        assert f"sweep {earlier}:" in done.out and "0 submitted now, 2 before" in done.out


def earlier_name(stack: Stack) -> str:
    """The name of the sweep by the rule of earlier versions."""
    catalog = codec.read(Catalog, stack.catalog)
    code = pack(catalog, catalog.templates["hello"], read(stack.folder / "src"), "src")
    overrides = RequestOverrides(package=str(code.location), code=code.digest)
    asked = SubmissionRequest("hello", capacity_type="pool", overrides=overrides)
    return plan_sweep(catalog, asked, sweep_file.read(stack.folder / "s.csv"), "ada", None).id


def test_a_folder_without_a_framework_for_the_gpu_is_told_before_it_is_sent(open_to_code: Stack, source: Path) -> None:
    """PyTorch 2.4 of the image knows no B200; the folder may bring a newer one."""  # N3
    worker = open_to_code.catalog["templates"]["hello"]["offers"][1]["request"]["jobSpec"]["workerPoolSpecs"][0]
    worker["pythonPackageSpec"]["executorImageUri"] = IMAGE.replace("sklearn-cpu.1-6", "pytorch-gpu.2-4.py310")
    gpus = {"machineType": "a4-highgpu-8g", "acceleratorType": "NVIDIA_B200", "acceleratorCount": 8}
    open_to_code.beside_pools("hello", "spot", machine=gpus)
    [own] = open_to_code.catalog["templates"]["hello"]["offers"]
    own["request"]["jobSpec"]["workerPoolSpecs"][0]["diskSpec"]["bootDiskType"] = "hyperdisk-balanced"
    open_to_code.publish()
    plan = ("submit", "hello", "--code", "./src", "-p", "code=again", "--dry-run")
    unfit = "image pytorch-gpu.2-4.py310 can't run on NVIDIA_B200"
    of_spot = "custom_model_training_preemptible"
    with open_to_code.settings(quota={f"{of_spot}_cpus": 224, f"{of_spot}_nvidia_b200_gpus": 8}):
        assert unfit in open_to_code.well(*plan).err
        (source / "requirements.txt").write_text("torch==2.9.1\n")
        assert unfit not in open_to_code.well(*plan).err
