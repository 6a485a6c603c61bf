"""script: somebody's own folder as it is on their disk, from `train.py` to what it has written. # N11"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import package_index
from tests.checkouts.shell import slipway, wait_for
from tests.local.conftest import ROOT

from .stack import OWN, Job, Stack, told

pytestmark = pytest.mark.journey

TRAIN = """
import os, sys
from pathlib import Path
import six
from helpers.words import HELLO
output = Path(os.environ["SLIPWAY_OUTPUT"])
print(HELLO, six.__name__, *sys.argv[1:], flush=True)
(output / "steps.txt").write_text("x")
rows = Path(os.environ["SLIPWAY_DATA"], "set.csv").read_text().split()
(output / "metrics.json").write_text('{"rows": %d}' % len(rows))
raise SystemExit("it went wrong")
"""

WAITS = """
import os, signal, time
from pathlib import Path

def on_notice(*_):
    Path(os.environ["SLIPWAY_OUTPUT"], "last_words.txt").write_text("bye")
    raise SystemExit(9)

signal.signal(signal.SIGTERM, on_notice)
print("waits", flush=True)
while True:  # A signal just before one long sleep would be handled after it.
    time.sleep(0.1)
"""

LEARNS = """
import json, os, sys
parameters = json.loads(os.environ["SLIPWAY_PARAMETERS"])
assert sys.argv[1:] == [parameters["lr"], parameters["name"]], sys.argv
with open(os.path.join(os.environ["SLIPWAY_OUTPUT"], "metrics.json"), "w") as file:
    json.dump({"loss": float(sys.argv[1])}, file)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script, a module in a folder beside it without `__init__.py`, and requirements. Nothing is committed."""
    mine = tmp_path / "mine"
    (mine / "helpers").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", mine], check=True)
    (mine / "train.py").write_text(TRAIN)
    (mine / "helpers" / "words.py").write_text('HELLO = "hello"\n')
    (mine / "requirements.txt").write_text("six==1.17.0\n")
    return mine


def submitted(stack: Stack, folder: Path, command: str, *flags: str, **parameters: object) -> Job:
    return stack.submit("script", "--code", str(folder), *flags, command=command, **parameters)


def test_script_what_the_guide_tells_is_typed_where_train_py_is(stack: Stack, tmp_path: Path) -> None:  # D3
    mine = tmp_path / "mine"
    shutil.copytree(ROOT / "jobs" / "script", mine, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "init", "--quiet", mine], check=True)
    (typed,) = [action for action in told() if action.command.startswith("slipway submit script --code .")]
    words = ("submit", "script", "--code", ".", "-p", "command=python train.py --lr 0.1")
    assert typed.command == 'slipway submit script --code . -p command="python train.py --lr 0.1"'
    done = slipway((*words, "--output", "json"), stack.checkout.environ("submitter"), mine)
    assert done.code == 0, done.said
    reviewed = stack.submit("script")
    own = Job(stack, done.json["job"]).finished()
    assert own.unshown("logs") == []
    assert [metric["step"] for metric in own.metrics] == [1, 2, 3, 4, 5] and own.metrics[-1]["lr"] == 0.1
    assert own.metrics[-1]["accuracy"] > 0.9
    fetched = stack.slipway("jobs", "download", own.display_name, str(tmp_path / "results"))
    assert fetched.code == 0, fetched.said
    assert {path.name for path in (tmp_path / "results").glob("[!.]*")} == {"metrics.json", "model.joblib"}
    assert reviewed.finished().metrics[-1]["lr"] == 0.01


def test_script_finds_own_modules_requirements_and_data_and_its_results_are_kept_when_it_fails(
    stack: Stack, folder: Path
) -> None:
    bucket = json.loads(stack.content(f"{stack.checkout.catalog}/catalog.json"))["storage"]["work"]
    url = f"{stack.cloud.url}/upload/storage/v1/b/{bucket}/o?uploadType=media&name=sets/one/set.csv"
    stack.cloud.session().post(url, data=b"1\n2\n3\n", timeout=30).raise_for_status()
    command = """python train.py "two words" 'it''s $HOME $(date) "so"' """
    sets = ("submit", "script", "--code", str(folder), "--dry-run", "-p")
    absent = stack.slipway(*sets, f"data=gs://{bucket}/sets/two")
    assert absent.code == 2 and f"nothing was sent: nothing is at gs://{bucket}/sets/two" in absent.err, absent.said
    told = f"input gs://{bucket}/sets/one: 1 object, 6 bytes, copied to each machine before the code starts"
    assert told in stack.slipway(*sets, f"data=gs://{bucket}/sets/one").err  # N31
    failed = submitted(stack, folder, command, data=f"gs://{bucket}/sets/one").finished(code=4)
    assert 'script: hello six two words its $HOME $(date) "so"' in failed.lines
    assert "script: it went wrong" in failed.lines and failed.state == "FAILED"
    assert failed.metrics == {"rows": 3} and failed.output("steps.txt") == b"x"


MEETS = """
import os, socket, time
import acme_words, joblib
print(acme_words.HELLO, joblib.HELLO, flush=True)
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":  # A job ends with its first replica.
    socket.create_server(place).accept()
else:
    while True:
        try:
            socket.create_connection(place).close()
            break
        except OSError:
            time.sleep(0.1)
"""


def test_script_takes_packages_from_an_index_of_ones_own_also_over_those_of_the_image(
    stack: Stack, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(MEETS)
    with package_index.served() as host:
        lines = f"--index-url http://{host}/simple/\nacme-words==1.0\njoblib==9.0\n"
        (tmp_path / "requirements.txt").write_text(lines)
        job = submitted(stack, tmp_path, "python train.py", "--replicas", "2").finished()
    for role in ("script", "workers"):
        assert f"{role}: hello from the index hello from the index" in job.lines


def test_script_that_is_cancelled_has_its_last_words_and_its_results_are_kept(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    job = submitted(stack, tmp_path, "bash -c 'python train.py; echo never'")
    job.said("waits")
    assert stack.slipway("jobs", "cancel", job.display_name).code == 0
    wait_for(lambda: job.state == "CANCELLED", "the job is cancelled")
    assert job.output("last_words.txt") == b"bye"
    assert "script: never" not in job.lines


EPOCHS = """
import json, os, time
from pathlib import Path
output = Path(os.environ["SLIPWAY_OUTPUT"])
checkpoint = output / "checkpoint"
first = int(checkpoint.read_text()) if checkpoint.exists() else 0
print("goes on from epoch", first, flush=True)
for epoch in range(first + 1, 10**9):
    checkpoint.write_text(str(epoch))
    (output / "metrics.json").write_text(json.dumps({"epoch": epoch}))
    if first:
        break
    time.sleep(0.2)
"""


@pytest.mark.parametrize(("template", "noticed"), [("script", False), (OWN, True)])
def test_script_and_a_template_of_ones_own_go_on_from_the_last_checkpoint_of_one_train_py(
    stack: Stack, tmp_path: Path, template: str, noticed: bool
) -> None:  # X3 # X5
    """One file that it overwrites, as most do, and no word of a signal; its metrics are seen while it runs."""
    mine = tmp_path / "anything"
    mine.mkdir()
    (mine / "train.py").write_text(EPOCHS)
    job = stack.submit(template, "--code", str(mine), "--capacity", "spot")
    job.said("goes on from epoch 0")

    def seen() -> bool:
        done = stack.slipway("jobs", "list", "--metric", "epoch", "--output", "json")
        return done.code == 0 and any(row["metrics"] for row in done.json["jobs"] if row["name"] == job.name)

    wait_for(seen, "its metrics are seen while it runs")
    assert job.state == "RUNNING"
    if noticed:
        stack.scenario(spot={"notice": 30, "preempt": [{"job": job.display_name, "times": 1}]})
    else:
        job.kill("workerpool0-0")
    last = job.finished().metrics["epoch"]
    lines = job.lines
    assert any("goes on with" in line and "checkpoint, metrics.json" in line for line in lines)
    (line,) = [row for row in lines if "goes on from epoch" in row and not row.endswith(" 0")]
    assert int(line.split()[-1]) == last - 1 > 0


SAVES_IN_PLACE = """
import os, time
from pathlib import Path
output, bucket = Path(os.environ["SLIPWAY_OUTPUT"]), Path("/gcs", os.environ["AIP_MODEL_DIR"][5:]).parent
checkpoint = output / "checkpoint"
if checkpoint.exists():
    raise SystemExit(print("goes on from saves", sorted(set(checkpoint.read_bytes()))))

def await_copy(name):
    while not (bucket / name).exists():
        time.sleep(0.1)

checkpoint.write_bytes(bytes([1]) * 65536)
await_copy("checkpoint")
with checkpoint.open("r+b") as file:
    file.write(bytes([2]) * 32768)
    file.flush()
    (output / "later").write_text("files are copied in the order of their writing")
    await_copy("later")
    print("is amid a save", flush=True)
    time.sleep(3600)
"""


def test_script_whose_machine_dies_amid_a_save_in_place_goes_on_from_the_whole_save_before(
    stack: Stack, tmp_path: Path
) -> None:  # X3
    (tmp_path / "train.py").write_text(SAVES_IN_PLACE)
    job = submitted(stack, tmp_path, "python train.py", "--capacity", "spot")
    job.said("is amid a save")
    job.kill("workerpool0-0")
    job.finished()
    assert any("goes on from saves [1]" in line for line in job.lines), "\n".join(job.lines)


WORDS = """
import json, os, time
from pathlib import Path
Path(os.environ["SLIPWAY_OUTPUT"], "word").write_text("kept")
metrics = os.environ["CLOUD_ML_HP_METRIC_FILE"]
line = {"timestamp": time.time(), "trial": os.environ["CLOUD_ML_TRIAL_ID"], "global_step": 1}
Path(metrics).parent.mkdir(parents=True, exist_ok=True)
Path(metrics).write_text(json.dumps({**line, "score": 1.0, "tag": "score"}))
"""


def test_script_s_folder_for_results_is_in_a_tuning_job_as_well(stack: Stack, tmp_path: Path) -> None:
    """The same of a training pipeline is in test_training_pipeline.py."""
    (tmp_path / "train.py").write_text(WORDS)
    job = stack.run(OWN, "--code", str(tmp_path), "--as", "hyperparameter-tuning-job", "--capacity", "spot")
    assert [job.output(f"{trial}/word") for trial in (1, 2)] == [b"kept", b"kept"]


def test_script_on_a_gpu_machine_takes_the_folder_as_well(stack: Stack, folder: Path) -> None:
    offers = stack.slipway("templates", "show", "script", "-o", "json").json["template"]["offers"]
    reserved = [offer for offer in offers if offer["capacityType"] == "reservation"]
    assert len(reserved) == 3 and not any(machine["available"] for machine in reserved), (
        "of GPUs, and the stack has none"
    )
    flags = ("-p", "machine=g2-standard-12", "--capacity", "spot", "--dry-run")
    done = stack.slipway("submit", "script", "--code", str(folder), *flags)
    assert done.code == 0, done.said
    package = done.json["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
    assert "pytorch-gpu" in package["executorImageUri"] and package["packageUris"][0] in done.err


def test_script_is_swept_over_parameters_of_ones_own(stack: Stack, folder: Path) -> None:  # N7 # N19
    (folder / "train.py").write_text(LEARNS)
    (folder / "grid.yaml").write_text("grid: {lr: [0.1, 1e-2], name: [two words]}\n")
    words = ("submit", "script", "--code", str(folder), "-p", "command=python train.py {lr} '{name}'")
    swept = stack.slipway(*words, "--sweep", str(folder / "grid.yaml"), "--wait", "--output", "json")
    assert swept.code == 0, swept.said
    listed = stack.slipway("jobs", "list", "--sweep", swept.json["sweep"], "--sort", "loss")
    head, best, other = (line.split() for line in listed.out.splitlines())
    assert head[:3] == ["JOB", "lr", "LOSS"] and best[:1] + best[2:4] == ["★", "0.01", "0.01"] and other[1] == "0.1"
    csv = stack.slipway("jobs", "list", "--sweep", swept.json["sweep"], "--output", "csv").out
    assert "params.lr" in csv and ",0.01," in csv
    again = stack.slipway("submit", "--like", best[1], "-p", "lr=0.5", "--output", "json")
    assert again.code == 0 and "lr=0.5 (was 1e-2)" in again.err and "not as it was" not in again.err, again.said
    job = Job(stack, again.json["job"]).finished()
    assert job.metrics == {"loss": 0.5}
    shown = stack.slipway("jobs", "show", job.display_name).out
    assert "lr=0.5, name=two words" in shown
