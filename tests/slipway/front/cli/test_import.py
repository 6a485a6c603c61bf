"""`slipway templates import` of several job files: all become templates, or none does. # N13"""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checkouts.shell import Done, slipway

POOL = {
    "machineSpec": {"machineType": "n1-standard-4"},
    "replicaCount": 1,
    "containerSpec": {"imageUri": "us-docker.pkg.dev/acme/train/task@sha256:" + "0f" * 32},
}
SPEC = {"workerPoolSpecs": [POOL], "serviceAccount": "train@acme.iam.gserviceaccount.com"}
BODY = {"displayName": "lora", "labels": {"team": "nlp"}, "jobSpec": SPEC}
DESCRIBED = {"name": "projects/1/locations/r/customJobs/7", "state": "JOB_STATE_SUCCEEDED", **BODY}
FILES = {"spec.yaml": SPEC, "a request.json": BODY, "described.yaml": DESCRIBED}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "templates").mkdir()
    for name, body in FILES.items():
        write(tmp_path / name, body)
    return tmp_path


def write(path: Path, body: Any) -> None:
    path.write_text(json.dumps(body) if path.suffix == ".json" else yaml.safe_dump(body, sort_keys=False))


def imports(folder: Path, *words: str) -> Done:
    return slipway(("templates", "import", *words), {"PATH": "/usr/bin"}, folder)


def templates(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "templates").iterdir())


def test_specs_requests_and_described_jobs_become_a_template_each(folder: Path) -> None:
    done = imports(folder, *FILES)
    assert done.code == 0, done.err
    written = ["spec.py", "a_request.py", "described.py"]
    assert done.out.splitlines() == [f"wrote templates/{name}" for name in written]
    assert templates(folder) == sorted(written)
    assert "add spec, a-request and described to slipway:templates" in done.err
    told = [line for line in done.err.splitlines() if "left out, as each job has its own" in line]
    assert [line.partition(":1")[0] for line in told] == ["note: a request.json", "note: described.yaml"]
    texts = {(folder / "templates" / name).read_text() for name in written}
    assert len({text.partition("TEMPLATE")[2].replace("a-request", "x").partition("summary")[0] for text in texts}) == 3
    printed = imports(folder, *FILES, "--print").out
    assert all(f"# templates/{name}\n" in printed for name in written)
    for name in written:
        assert (folder / "templates" / name).read_text().rstrip("\n") in printed


def test_of_two_mistaken_files_both_are_told_and_none_of_three_is_written(folder: Path) -> None:
    wrong = {**SPEC, "workerPoolSpecs": [{**POOL, "replicaCuont": 1}]}
    write(folder / "typo.yaml", wrong)
    write(folder / "study.json", {**BODY, "jobSpec": wrong})
    done = imports(folder, "spec.yaml", "typo.yaml", "study.json", "gone.yaml")
    assert (done.code, templates(folder)) == (2, [])
    assert "3 of 4 files can't be imported, and nothing was written" in done.err
    assert "typo.yaml:7  workerPoolSpecs[0].replicaCuont" in done.err
    assert "study.json:1  jobSpec.workerPoolSpecs[0].replicaCuont" in done.err
    assert "'gone.yaml' can't be read: No such file or directory" in done.err


def test_a_template_that_is_there_or_comes_twice_and_a_name_of_several_are_refused(folder: Path) -> None:
    (folder / "more").mkdir()
    write(folder / "more" / "spec.yml", SPEC)
    twice = imports(folder, "spec.yaml", "more/spec.yml")
    assert (twice.code, templates(folder)) == (2, [])
    assert "spec.yaml and more/spec.yml would both be template spec" in twice.err
    named = imports(folder, "spec.yaml", "described.yaml", "--name", "lora")
    assert (named.code, templates(folder)) == (2, []) and "--name can't be of several files" in named.err
    assert imports(folder, "spec.yaml", "spec.yaml").code == 0
    again = imports(folder, "described.yaml", "spec.yaml")
    assert (again.code, templates(folder)) == (2, ["spec.py"])
    assert "templates/spec.py exists, and was not overwritten" in again.err


def test_what_can_not_be_written_takes_back_what_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verb = import_module("slipway.front.cli.templates.import")
    whole = verb.write_atomically

    def full(path: Path, text: str) -> None:
        if path.name == "described.py":
            raise OSError(28, "No space left on device")
        whole(path, text)

    monkeypatch.setattr(verb, "write_atomically", full)
    done = imports(folder, *FILES)
    assert (done.code, templates(folder)) == (2, [])
    assert "templates/described.py: No space left on device" in done.err
