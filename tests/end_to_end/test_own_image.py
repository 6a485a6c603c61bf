"""A team's own image: its command runs once, with a folder, secrets and results; as it is, at least once. (N27)"""

import base64
import json
import uuid
from collections.abc import Callable

import pytest

from tests.checkouts import own_image
from tests.checkouts.checkout import PROJECT, Checkout
from tests.checkouts.shell import wait_for
from tests.docs.console import blocks
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

PAGE = ROOT / "docs" / "own-image.md"
PROGRAM = """
import os, pathlib, sys
try:
    import word
except ImportError:
    print("the image's own code", sys.argv[1:], flush=True)
else:
    print("the folder's", word.WORD, pathlib.Path("data.txt").read_text(), flush=True)
print("the token is", os.environ["TOKEN"][::-1], flush=True)
pathlib.Path(os.environ["SLIPWAY_OUTPUT"], "metrics.json").write_text('{"accuracy": 0.5}')
"""


def trainer(checkout: Checkout) -> str:
    """The address of the account that the stack's jobs run as."""
    accounts = checkout.cloud.rest("GET", f"/v1/projects/{PROJECT}/serviceAccounts")["accounts"]
    return next(str(one["email"]) for one in accounts if "trainer" in one["email"])


@pytest.fixture
def images(checkout: Checkout) -> Checkout:
    """A stack whose template `own` starts by the launcher, and `bare` as it is."""
    secret = base64.b64encode(b"s3cret").decode()
    at = f"/v1/projects/{PROJECT}/secrets"
    checkout.cloud.rest("POST", f"{at}?secretId=token", {"replication": {"automatic": {}}})
    checkout.cloud.rest("POST", f"{at}/token:addVersion", {"payload": {"data": secret}})
    reader = {"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{trainer(checkout)}"]}
    checkout.cloud.rest("POST", f"{at}/token:setIamPolicy", {"policy": {"bindings": [reader]}})
    fields = {"code_flag": "True", "secrets": '{"TOKEN": "token"}', "experiment": '"words"'}
    own_image.lay_out(checkout.folder, program=PROGRAM, **fields)
    own_image.lay_out(checkout.folder, "bare", code="launcher=False")
    checkout.write(templates=["nap", "own", "bare"])
    checkout.up()
    return checkout


@pytest.mark.deployed
def test_an_image_is_a_full_citizen(images: Checkout) -> None:  # N27
    done = images.slipway("submit", "own", "-p", "say=hello", "--wait", "--request-id", "first")
    assert done.code == 0, done.said
    assert "at least once" not in done.said
    log = images.slipway("jobs", "logs", "own").out
    assert "the image's own code ['--seconds=0.0', '--say=hello'" in log and "the token is terc3s" in log
    shown = images.slipway("jobs", "show", "own", "--output", "json").json["job"]
    assert shown["metrics"] == {"accuracy": 0.5} and "s3cret" not in json.dumps(images.jobs("first"))
    run = images.slipway("jobs", "show", "own").out
    assert own_image.IMAGE in run and "words, run own-" in run

    # A folder of one's own is the command's, and its modules are found first. # N8 # N11
    folder = images.folder / "src"
    folder.mkdir()
    (folder / "word.py").write_text("WORD = 'word'\n")
    (folder / "data.txt").write_text("and its data")
    (folder / "requirements.txt").write_text("six\n")
    done = images.slipway("submit", "own", "-p", "say=x", "--code", "src", "--wait", "--request-id", "second")
    assert done.code == 0, done.said
    assert "requirements.txt is not installed" in done.err
    log = images.slipway("jobs", "logs", images.jobs("second")[0]["displayName"]).out
    assert "the folder's word and its data" in log
    again = images.slipway("submit", "--like", images.jobs("second")[0]["displayName"], "--dry-run")
    assert again.code == 0, again.said
    assert f"--code=gs://{PROJECT}-" in again.out, "it takes the same folder"

    # Its launcher is in use, whatever stack it is of.
    doctor = images.slipway("doctor", role="deployer")
    assert ".pyz" not in doctor.said


@pytest.mark.deployed
def test_an_image_without_a_launcher_says_that_it_runs_at_least_once(images: Checkout) -> None:  # N27
    for words in (("templates", "show", "bare"), ("submit", "bare", "-p", "say=hello")):
        done = images.slipway(*words)
        assert done.code == 0 and "at least once: an image starts without Slipway's launcher" in done.out, done.said
    assert "at least once" not in images.slipway("templates", "show", "own").said
    (sent,) = images.jobs()
    assert sent["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"][:2] == ["python", "-c"]


@pytest.mark.deployed
def test_two_jobs_of_one_submission_of_an_image_run_it_once(
    images: Checkout, faults: Callable[..., None]
) -> None:  # N7, N27
    """The answer is lost, lists lag, and the same command is typed on another machine before either job has begun."""
    for name in ("takes-one", "takes-two"):
        images.submit("-p", "seconds=600", "--capacity", "pool", "--request-id", name)
    busy = [job["name"] for name in ("takes-one", "takes-two") for job in images.jobs(name)]
    id_ = f"once-{uuid.uuid4().hex[:8]}"
    lost = {"kind": "lost-answer", "match": "POST .*/customJobs$", "times": 1}
    lagging = {"kind": "lagging-list", "match": "GET .*/customJobs", "seconds": 60}
    words = ("submit", "own", "-p", "say=hello", "--capacity", "pool", "--request-id", id_)
    faults(lost, lagging)
    unknown = images.slipway(*words, SLIPWAY_LOOK_FOR="1s")
    assert unknown.code == 75 and "of two jobs only one runs" in unknown.said, unknown.said
    (written,) = images.journal(f"{id_}.json")
    written.unlink()
    assert images.slipway(*words).code == 0
    faults()
    for job in busy:
        images.cloud.cancel(job)
    wait_for(lambda: [job["state"] for job in images.jobs(id_)] == ["JOB_STATE_SUCCEEDED"] * 2, "both end well")
    logs = [images.slipway("jobs", "logs", job["name"].rsplit("/", 1)[-1]).out for job in images.jobs(id_)]
    assert sorted("the image's own code" in log for log in logs) == [False, True], logs
    assert sum("a copy of job" in log for log in logs) == 1


@pytest.mark.deployed
def test_the_template_of_the_page_runs_as_the_page_says(checkout: Checkout) -> None:  # N8, N27
    (template,), (typed,) = blocks(PAGE, "python"), blocks(PAGE, "console")
    (checkout.folder / "templates" / "own.py").write_text(f'"""own"""\n\n{template}')
    checkout.write(templates=["nap", "own"])
    checkout.up()
    (checkout.folder / "src").mkdir()
    program = "import os, sys\nopen(os.environ['SLIPWAY_OUTPUT'] + '/lr', 'w').write(sys.argv[1])\n"
    (checkout.folder / "src" / "train.py").write_text(program)
    for line in (line[2:] for line in typed.splitlines() if line.startswith("$ ")):
        done = checkout.slipway(*line.split()[1:])
        assert done.code == 0, done.said
    (kept,) = checkout.folder.glob("own-*/lr")
    assert kept.read_text() == "--lr=0.2"
