"""Inputs are on the machine's disk when the code starts, from `submit` to the log. (N31)"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from vertex_local.identities import SUBMITTER

from tests.checkouts.checkout import Checkout
from tests.docs.console import blocks
from tests.local.conftest import ROOT

from .test_own_image import trainer

pytestmark = pytest.mark.journey

PAGE = ROOT / "docs" / "inputs.md"
READS = """
import os, pathlib

folder = pathlib.Path(os.environ["SLIPWAY_INPUT_DATA"])
print("finds", sorted(f"{path.relative_to(folder)}={path.read_text()}" for path in folder.rglob("*.png")), flush=True)
"""


@pytest.fixture
def near(checkout: Checkout, tmp_path: Path) -> Checkout:
    """The stack of the page: its template, and a bucket that is not the stack's, made as it says."""
    (checkout.folder / "templates" / "near.py").write_text(f'"""near"""\n\n{blocks(PAGE, "python")[0]}')
    package = checkout.folder / "jobs" / "near"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text(READS)
    checkout.write(templates=["nap", "near"])
    checkout.up()
    program = blocks(PAGE, "python")[2].replace("slipway--local-", "slipway--trial-")
    assert trainer(checkout) in program and SUBMITTER in program
    (tmp_path / "digits" / "1").mkdir(parents=True)
    (tmp_path / "digits" / "0.png").write_text("1234567")
    (tmp_path / "digits" / "1" / "a.png").write_text("123456")
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=checkout.cloud.env("owner"), check=True)
    path = "/upload/storage/v1/b/acme-data/o?uploadType=media&name=digits2%2Fno.png"
    checkout.cloud.call("POST", path, content_type="image/png", data=b"1").raise_for_status()
    return checkout


@pytest.mark.deployed
def test_the_template_of_the_page_has_its_input_on_the_disk(near: Checkout) -> None:  # N31
    policy = near.cloud.rest("GET", "/storage/v1/b/acme-data/iam")
    near.cloud.rest("PUT", "/storage/v1/b/acme-data/iam", {"bindings": []})
    # Nobody may read the bucket: that is said before it is sent, and by the job, whose code does not start.
    done = near.slipway("submit", "near", "--wait", "--request-id", "barred")
    assert done.code == 4, done.said
    assert "input gs://acme-data/digits: not known whether it fits the disk: " in done.err
    log = near.slipway("jobs", "logs", near.jobs("barred")[0]["displayName"]).out
    assert "error: the inputs of this job can't be copied, so it does not start" in log and "finds" not in log
    assert "add-iam-policy-binding gs://acme-data --role=roles/storage.objectViewer --member=serviceAccount:" in log

    near.cloud.rest("PUT", "/storage/v1/b/acme-data/iam", {"bindings": policy["bindings"]})
    shown = near.slipway("templates", "show", "near").out
    assert "input ${data}: copied to each machine before the code starts, as $SLIPWAY_INPUT_DATA" in shown
    console = blocks(PAGE, "console")[0]
    for typed, said in zip(re.findall(r"^\$ (.*)", console, re.M), re.findall(r"^\w.*", console, re.M), strict=True):
        done = near.slipway(*typed.split()[1:])
        assert done.code == 0 and said in done.said, done.said
    log = near.slipway("jobs", "logs", "near").out
    assert "finds ['0.png=1234567', '1/a.png=123456']" in log
    (job,) = (each for each in near.jobs() if each["state"] == "JOB_STATE_SUCCEEDED")
    env = job["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["env"]
    assert {"name": "SLIPWAY_INPUT_DATA", "value": "gs://acme-data/digits"} in env

    # A folder of one's own has the same input, by a launcher that is packed with it; a parameter chooses another. # N8
    folder = near.folder / "src" / "near"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "task.py").write_text(READS.replace("finds", "the folder finds"))
    again = ("submit", "near", "--code", "src", "-p", "data=gs://acme-data/digits2/no.png", "--wait")
    done = near.slipway(*again, "--request-id", "own")
    assert done.code == 0, done.said
    log = near.slipway("jobs", "logs", near.jobs("own")[0]["displayName"]).out
    assert "the folder finds ['no.png=1']" in log
