"""Inputs before a job is sent: how large they are, and that they are there and fit the disk. # N31"""

import json
from pathlib import Path

import pytest

from slipway.using.submission import inputs

from .stack import PROJECT, Stack
from .test_sweep import every_job


@pytest.fixture
def with_input(stack: Stack) -> Stack:
    """The template `hello` copies what its parameter `data` names. In the catalog's bucket, which Ada may read, are 13
    bytes of digits, and others beside them."""
    for name, content in (("digits/a", "1234567"), ("digits/b/c", "123456"), ("digits-old", "1"), ("digits/", "")):
        stack.put(name, content.encode())
    data = {"name": "data", "type": "str", "default": f"{stack.address}/digits", "choices": [], "help": ""}
    stack.catalog["templates"]["hello"]["parameters"].append(data)
    for place in (0, 1):
        for pool in stack.spec("hello", place)["workerPoolSpecs"]:
            pool["containerSpec"]["env"] = [{"name": "SLIPWAY_INPUT_DATA", "value": "${data}"}]
    stack.publish()
    return stack


SUBMIT = ("submit", "hello", "-p", "code=print(1)")


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_the_size_is_told(with_input: Stack, flags: tuple[str, ...]) -> None:
    told = f"input {with_input.address}/digits: 2 objects, 13 bytes, copied to each machine before the code starts"
    assert told in with_input.well(*SUBMIT, *flags).err
    for job in with_input.jobs():
        shown = with_input.well("jobs", "show", job["displayName"]).out
        assert f"\ninputs     data={with_input.address}/digits\n" in shown
    one = with_input.well(*SUBMIT, "-p", f"data={with_input.address}/digits-old", "--dry-run")
    assert "/digits-old: 1 object, 1 byte, copied" in one.err
    none = with_input.well(*SUBMIT, "-p", "data=", "--dry-run")
    assert "input" not in none.err, "an empty parameter is no input"


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_what_does_not_fit_the_disk_is_refused_before_it_is_sent(
    with_input: Stack, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    monkeypatch.setattr(inputs, "SYSTEM_GB", 100)
    refused = with_input.run(*SUBMIT, *flags)
    assert refused.code == 2 and not with_input.jobs()
    assert "nothing was sent: the inputs do not fit the disk of each machine" in refused.err
    assert "they take 13 bytes; of 100 GB, 100 GB are left to the system and the image" in refused.err
    assert "fix: 101 GB or more: Disk(size_gb=…) of the template, and sizeGb of its pool" in refused.err


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("{}/nowhere", "nothing is at {}/nowhere"),
        ("gs://no-such-bucket-of-anybody/digits", "nothing is at gs://no-such-bucket-of-anybody/digits\n"),
    ],
)
def test_what_can_not_be_copied_is_refused_before_it_is_sent(with_input: Stack, address: str, told: str) -> None:
    words = (*SUBMIT, "-p", f"data={address.format(with_input.address)}")
    planned, refused = with_input.run(*words, "--dry-run"), with_input.run(*words)
    assert planned.code == 2 and planned.err.startswith("error: nothing was sent: "), "and no machines that start now"
    assert refused.code == 2 and f"nothing was sent: {told.format(with_input.address)}" in refused.err
    assert not with_input.jobs()


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a//b"], "{}/odd/a//b has a name that no file can have"),
        (["../b"], "{}/odd/../b has a name that no file can have"),
        (["a", "a.b", "a/b"], "{0}/odd/a/b has a name that no file can have beside {0}/odd/a"),
        (["é" * 128], "has a name that no file can have"),
    ],
)
def test_objects_that_can_not_be_files_are_refused_before_the_job_is_sent(
    with_input: Stack, names: list[str], told: str, flags: tuple[str, ...]
) -> None:
    for name in names:
        with_input.put(f"odd/{name}", b"1")
    refused = with_input.run(*SUBMIT, *flags, "-p", f"data={with_input.address}/odd")
    assert refused.code == 2 and not with_input.jobs()
    assert told.format(with_input.address) in refused.err and "fix: rename the object: gcloud storage mv" in refused.err


def test_names_that_begin_alike_hide_no_missing_folder_and_no_folder_that_is_there(
    with_input: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than are looked at: `at least 0 objects` were to be copied."""
    monkeypatch.setattr(inputs, "MOST_OBJECTS", 1)
    for name in ("run-1", "run-2", "run/a"):
        with_input.put(name, b"12")
    missing = with_input.run(*SUBMIT, "-p", f"data={with_input.address}/ru", "--dry-run")
    assert missing.code == 2 and f"nothing is at {with_input.address}/ru" in missing.err
    for name in ("run", "run-1", "run/a"):
        told = with_input.well(*SUBMIT, "-p", f"data={with_input.address}/{name}", "--dry-run").err
        assert f"input {with_input.address}/{name}: 1 object, 2 bytes, copied to each machine" in told


@pytest.mark.parametrize("value", ["/gcs/acme-data/digits", "digits", "gs://", "gs:///digits"])
def test_what_is_no_address_is_refused(with_input: Stack, value: str) -> None:
    refused = with_input.run(*SUBMIT, "-p", f"data={value}", "--dry-run")
    assert refused.code == 2 and f"input data is {value!r}" in refused.err and "gs://BUCKET/FOLDER" in refused.err


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("/gcs/acme-data/digits", "gs://acme-data/digits, as an input is gs://BUCKET/FOLDER"),
        ("https://storage.googleapis.com/acme/d.csv", "gs://acme/d.csv, as an input is gs://BUCKET/FOLDER"),
        ("https://storage.cloud.google.com/acme/d.csv", "gs://acme/d.csv, as an input is gs://BUCKET/FOLDER"),
        ("./my data", "gcloud storage cp -r './my data' gs://BUCKET/FOLDER, and name gs://BUCKET/FOLDER"),
        ("s3://acme/digits", "gcloud storage cp -r s3://acme/digits gs://BUCKET/FOLDER, and name gs://BUCKET/FOLDER"),
        ("data/train", "gcloud storage cp -r data/train gs://BUCKET/FOLDER, and name gs://BUCKET/FOLDER"),
        ("gs:/acme/digits", "gs://acme/digits, as an input is gs://BUCKET/FOLDER"),
        ("gcs://acme/digits", "gs://acme/digits, as an input is gs://BUCKET/FOLDER"),
        ("GS://acme/digits", "gs://acme/digits, as an input is gs://BUCKET/FOLDER"),
        (
            "https://console.cloud.google.com/storage/browser/acme/digits;tab=objects?project=acme",
            "gs://acme/digits, as an input is gs://BUCKET/FOLDER",
        ),
        ("hf://mnist", "gs://BUCKET/FOLDER, or of the hub hf://ORG/NAME and hf://datasets/ORG/NAME"),
        ("abfs://acme/digits", "gs://BUCKET/FOLDER, or one object there"),
        (
            "https://example.com/d.zip?raw=1",
            "curl -L 'https://example.com/d.zip?raw=1' | gcloud storage cp - gs://BUCKET/d.zip, and name gs://BUCKET/d.zip",
        ),
        ("gs://acme-data/digits/*.csv", "name the folder: gs://acme-data/digits"),
        ("gs://acme-data/*.csv", "name the folder: gs://acme-data"),
    ],
)
def test_what_people_name_instead_is_answered_with_what_works(with_input: Stack, value: str, fix: str) -> None:
    refused = with_input.run(*SUBMIT, "-p", f"data={value}", "--dry-run")
    assert refused.code == 2 and refused.err.endswith(f"  fix: {fix}\n"), refused.err


def test_what_may_not_be_listed_is_not_known_and_sent(with_input: Stack) -> None:
    bucket = f"private-{with_input.name}"
    with_input.cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": bucket, "location": "US-CENTRAL1"})
    done = with_input.well(*SUBMIT, "-p", f"data=gs://{bucket}/digits")
    assert f"input gs://{bucket}/digits: not known whether it fits the disk: " in done.err
    assert "storage.objects.list" in done.err and f"(ask for roles/storage.objectViewer on gs://{bucket})" in done.err
    assert len(with_input.jobs()) == 1


def test_of_very_many_objects_the_first_pages_are_looked_at(with_input: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MOST_OBJECTS", 2)
    told = with_input.well(*SUBMIT, "--dry-run").err
    assert "at least 2 objects, at least 13 bytes, copied to each machine" in told
    assert "not known: whether they fit the disk" in told
    monkeypatch.setattr(inputs, "SYSTEM_GB", 100)
    assert "they take 13 bytes" in with_input.run(*SUBMIT, "--dry-run").err, "what is known is enough"


def test_a_sweep_looks_at_the_inputs_of_all_its_runs(with_input: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Path(with_input.folder / "grid.json")
    addresses = [f"{with_input.address}/{name}" for name in ("digits", "digits-old")]
    grid.write_text(json.dumps({"grid": {"data": addresses, "code": ["print(1)", "print(2)"]}}))
    sweep = ("submit", "hello", "--sweep", str(grid))
    done = with_input.well(*sweep, "--dry-run")
    assert all(done.err.count(f"input {address}: ") == 1 for address in addresses)
    monkeypatch.setattr(inputs, "MOST_ADDRESSES", 1)
    assert "/digits-old" not in with_input.well(*sweep, "--dry-run").err
    monkeypatch.setattr(inputs, "SYSTEM_GB", 100)
    refused = with_input.run(*sweep)
    assert refused.code == 2 and "they take 13 bytes" in refused.err and not every_job(with_input)
    grid.write_text(json.dumps({"grid": {"data": [addresses[0], "digits"]}}))
    assert "input data is 'digits'" in with_input.run(*sweep).err


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (("digits", "/gcs/b"), "input data is 'digits'\n"),
        (("{}/no", "gs://no-such-bucket-of-anybody/digits"), "nothing is at {}/no\n"),
        (("gs://no-such-bucket-of-anybody/digits", "{}/no"), "nothing is at gs://no-such-bucket-of-anybody/digits\n"),
    ],
)
def test_the_first_wrong_address_of_a_sweep_is_named(with_input: Stack, bad: tuple[str, ...], told: str) -> None:
    grid = Path(with_input.folder / "grid.json")
    addresses = [address.format(with_input.address) for address in ("{}/digits", *bad)]
    grid.write_text(json.dumps({"grid": {"data": addresses, "code": ["print(1)"]}}))
    refused = with_input.run("submit", "hello", "--sweep", str(grid))
    assert refused.code == 2 and told.format(with_input.address) in refused.err and not every_job(with_input)


def test_inputs_of_runs_that_are_sent_need_not_be_there_any_more(with_input: Stack) -> None:
    with_input.put("day1", b"1")
    grid = Path(with_input.folder / "grid.json")
    addresses = [f"{with_input.address}/{name}" for name in ("day1", "digits")]
    grid.write_text(json.dumps({"grid": {"data": addresses, "code": ["print(1)"]}}))
    sweep = ("submit", "hello", "--sweep", str(grid))
    with_input.well(*sweep)
    with_input.cloud.rest("DELETE", f"/storage/v1/b/{with_input.address.removeprefix('gs://')}/o/day1")
    second = next(job for job in every_job(with_input) if addresses[1] in str(job))
    with_input.cloud.rest("POST", f"/v1/{second['name']}:cancel", {})
    with_input.cloud.seen(second["name"], lambda body: "endTime" in body)
    again = with_input.well(*sweep, "--retry-cancelled")
    assert f"input {addresses[1]}: 2 objects" in again.err and addresses[0] not in again.err
    assert len(every_job(with_input)) == 3


def test_files_of_the_hub_are_the_job_s_to_fetch(with_input: Stack) -> None:  # N25
    told = with_input.well(*SUBMIT, "-p", "data=hf://datasets/acme/words@v1/train", "--dry-run").err
    assert "input hf://datasets/acme/words@v1/train: fetched from the Hugging Face hub by each machine" in told
    for page, right in (("huggingface.co/acme/tiny/tree/main", "hf://acme/tiny"), ("hf://tiny", "gs://BUCKET/FOLDER")):
        refused = with_input.run(*SUBMIT, "-p", f"data={page}")
        assert refused.code == 2 and f"fix: {right}" in refused.err and not with_input.jobs(), refused.err
