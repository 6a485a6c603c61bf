"""gemma2-lora as processes: what a killed attempt has done is kept, on one GPU's worth of processes or two. # Z1 X3"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs.gemma2_lora.base import obtain
from jobs.gemma2_lora.checkpoints import Checkpoints
from jobs.gemma2_lora.examples import blocks
from jobs.gemma2_lora.folder import Folder
from jobs.gemma2_lora.options import options
from jobs.gemma2_lora.trouble import TroubleError
from tests.checkouts.made_once import once

from .conftest import ROOT, TORCH_ON_GPUS, environ, interpreter
from .hub import GOOD, STRANGER, UNKNOWN, serving

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

STEPS, EVERY = 16, 4
SHORT = ("--model=tiny", f"--steps={STEPS}", f"--every={EVERY}", "--length=64")


def test_gemma2_lora_takes_the_folders_that_vertex_ai_names_and_else_those_of_its_output() -> None:
    told = options(
        ["--output=out"], {"AIP_CHECKPOINT_DIR": "gs://b/checkpoints/", "AIP_TENSORBOARD_LOG_DIR": "gs://b/l/"}
    )
    assert (told.checkpoints, told.logs) == ("gs://b/checkpoints/", "gs://b/l/")
    alone = options(["--output=out"], {})
    assert (alone.checkpoints, alone.logs) == ("out/checkpoints", "out/logs")


def test_gemma2_lora_fetches_the_model_that_is_named_unless_other_weights_are() -> None:
    assert options(["--model=27b"], {}).base == "google/gemma-2-27b"
    assert options(["--model=27b-it"], {}).base == "google/gemma-2-27b-it"
    assert options(["--model=27b", "--base=gs://weights/27b"], {}).base == "gs://weights/27b"
    assert options(["--model=9b"], {}).learning_rate < options(["--model=tiny"], {}).learning_rate
    assert options(["--model=tiny", "--learning-rate=0.5"], {}).learning_rate == 0.5


def test_gemma2_lora_begins_each_sequence_and_drops_what_does_not_fill_one() -> None:
    assert blocks(range(10, 17), 4, 2) == [[2, 10, 11, 12], [2, 13, 14, 15]]
    assert blocks(range(10, 17), 4, None) == [[10, 11, 12, 13]]
    with pytest.raises(TroubleError, match="the text is too short: 3 tokens"):
        blocks(range(3), 5, 2)


def test_gemma2_lora_counts_whole_checkpoints_only_and_keeps_two(tmp_path: Path) -> None:  # X3
    source = tmp_path / "made"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "state.pt").write_bytes(b"state")
    kept = Checkpoints(Folder(str(tmp_path / "kept")))
    assert (kept.steps(), kept.attempt(), kept.attempt()) == ([], 1, 2)
    for step in (8, 10, 100):
        kept.keep(step, source)
    assert kept.steps() == [10, 100]
    assert not list((tmp_path / "kept" / "checkpoint-8").rglob("*.*"))
    # As when the machine goes while one is written: all of its files, and no word that they are all.
    shutil.copytree(tmp_path / "kept" / "checkpoint-100", tmp_path / "kept" / "checkpoint-101")
    (tmp_path / "kept" / "checkpoint-101" / "complete.json").unlink()
    assert max(kept.steps()) == 100
    # And while one is removed: its word is gone, files are left.
    (tmp_path / "kept" / "checkpoint-10" / "complete.json").unlink()
    kept.keep(102, source)
    assert kept.steps() == [100, 102]
    assert not list((tmp_path / "kept" / "checkpoint-10").rglob("*.*"))
    fetched = kept.fetch(100, tmp_path / "fetched")
    assert (fetched.name, (fetched / "inner" / "state.pt").read_bytes()) == ("checkpoint-100", b"state")


@pytest.fixture(scope="session")
def tuning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the image's packages and those that the job needs."""
    return interpreter(tmp_path_factory.mktemp("images"), TORCH_ON_GPUS, "gemma2-lora")


@pytest.fixture(scope="session")
def fetching(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of the image's environment with the hub's client alone: with all that training needs it has
    gigabytes, and these tests train nothing."""
    return interpreter(tmp_path_factory.mktemp("images"), TORCH_ON_GPUS, "gemma2-lora", ["huggingface_hub>=1.33,<2"])


def command(python: Path, output: Path, *more: str) -> list[str]:
    return [str(python), "-m", "gemma2_lora.task", *SHORT, f"--output={output}", *more]


def run(call: list[str], **more: str) -> str:
    done = subprocess.run(call, env=environ(**more), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def metrics(output: Path) -> list[dict[str, Any]]:
    """The losses by step, and at last the number of attempts."""
    found: list[dict[str, Any]] = json.loads((output / "metrics.json").read_text())
    return found


@pytest.fixture(scope="session")
def unbroken(tuning: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run that nothing has disturbed, and beside it `work`, what it had on its machine."""

    def train(folder: Path) -> None:
        run(command(tuning, folder / "output", f"--work={folder / 'work'}"))

    return once(tmp_path_factory, "unbroken", train) / "output"


@pytest.mark.long
@pytest.mark.journey
def test_gemma2_lora_killed_in_between_ends_with_the_adapter_of_an_unbroken_run(
    tuning: Path, unbroken: Path, tmp_path: Path
) -> None:  # X3
    *losses, end = metrics(unbroken)
    assert losses[-1]["loss"] < losses[0]["loss"] - 0.5 and end == {"step": STEPS, "attempts": 1}
    with subprocess.Popen(command(tuning, tmp_path), env=environ(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("checkpoint of step 4"):
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    said = run(command(tuning, tmp_path))
    assert "attempt 2: goes on" in said
    assert metrics(tmp_path) == [*losses, {**end, "attempts": 2}]
    adapters = [(folder / "adapter" / "adapter_model.safetensors").read_bytes() for folder in (tmp_path, unbroken)]
    assert adapters[0] == adapters[1]
    # Killed after its last checkpoint, it has nothing to train any more.
    (tmp_path / "metrics.json").unlink()
    assert "step 1/" not in run(command(tuning, tmp_path))
    assert metrics(tmp_path) == [*losses, {**end, "attempts": 3}]


@pytest.mark.long
@pytest.mark.journey
def test_gemma2_lora_in_two_processes_trains_one_adapter_and_goes_on_from_a_checkpoint(
    tuning: Path, unbroken: Path, tmp_path: Path
) -> None:  # Z1
    """On the CPU and by gloo, as with a process for each GPU: each sees its part of a step. What the image has for its
    own PyTorch is not loaded."""
    for other in ("torchaudio", "torchvision"):
        (tmp_path / "image" / other).mkdir(parents=True)
        (tmp_path / "image" / other / "__init__.py").write_text("raise RuntimeError('made for another PyTorch')")
    path = f"{tmp_path}/image:{ROOT / 'jobs'}"
    first = unbroken / "checkpoints"
    step = min(Checkpoints(Folder(str(first))).steps())
    assert step < STEPS
    shutil.copytree(first / f"checkpoint-{step}", tmp_path / "checkpoints" / f"checkpoint-{step}")
    base = unbroken.parent / "work" / "download"  # made anew it would be the same
    said = run(command(tuning, tmp_path, "--processes=2", f"--base={base}"), PYTHONPATH=path)
    assert f"the checkpoint of step {step}" in said
    assert "2 process(es) on CPU" in said
    assert said.count(f"step {STEPS}/{STEPS}, loss") == 1
    assert metrics(tmp_path)[-1]["step"] == STEPS
    states = {file.name for file in (tmp_path / "checkpoints" / f"checkpoint-{STEPS}").glob("rng_state*")}
    assert states == {"rng_state_0.pth", "rng_state_1.pth"}


COMPARE = """
import sys
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

base, adapter, whole = sys.argv[1:]
torch.manual_seed(0)
asked = AutoTokenizer.from_pretrained(whole)("Shall I compare thee to a summer's day?", return_tensors="pt")
of = lambda folder: AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32)
with torch.no_grad():
    merged, bare = of(whole)(**asked).logits, of(base)(**asked).logits
    beside = PeftModel.from_pretrained(of(base), adapter)(**asked).logits
print(float((merged - beside).abs().mean() / (bare - beside).abs().mean()))
"""


@pytest.mark.long
@pytest.mark.journey
def test_gemma2_lora_as_a_training_pipeline_brings_out_the_whole_model(
    tuning: Path, unbroken: Path, tmp_path: Path
) -> None:  # W5
    """Started again after its last step: it trains nothing, and the model is that of base and adapter all the same."""
    shutil.copytree(unbroken / "checkpoints", tmp_path / "checkpoints")
    said = run(command(tuning, tmp_path, "--kind=training-pipeline"), AIP_MODEL_DIR=f"{tmp_path}/registry/")
    assert "step 1/" not in said and f"whole model written to {tmp_path}/registry" in said
    base, whole = unbroken.parent / "work" / "download", tmp_path / "registry"
    assert {file.name for file in whole.iterdir()} >= {file.name for file in base.iterdir()}
    assert not (whole / "adapter_config.json").exists() and not (unbroken / "model").exists()
    off = float(run([str(tuning), "-c", COMPARE, str(base), str(unbroken / "adapter"), str(whole)]).splitlines()[-1])
    assert off < 0.05, "what 16 bits round away, beside what the adapter does"


STORE = """
import sys
from pathlib import Path
from dask_digits import output
from gemma2_lora.folder import Folder
from torchrun_digits import folder as digits

folder, large = Folder(sys.argv[1]), Path(sys.argv[2])
folder.write("small", b"small")
folder.write("large", large)
print(folder.names())
folder.remove("small")
folder.remove("large")
digits.Folder(sys.argv[1]).write("steps", b"small")
output.write(sys.argv[1], "metrics", b"small")
print(folder.names())
"""


@pytest.mark.journey
@pytest.mark.parametrize("fault", ["unavailable", "lost-answer"])
def test_gemma2_lora_tries_again_when_cloud_storage_is_away_for_a_moment(
    fetching: Path, cloud: LocalCloud, tmp_path: Path, fault: str
) -> None:  # X3
    """With the client that images have, which of its own accord tries neither uploads nor removals again. Those of
    torchrun-digits and dask-digits, too."""
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": f"kept-{fault}"})
    (tmp_path / "large").write_bytes(b"0" * (9 << 20))
    here = {"kind": fault, "every": 2, "times": 3}
    faults = [here | {"match": f"{method} .*/b/kept-{fault}/o"} for method in ("POST", "DELETE")]
    faults.append({"kind": fault, "match": f"PUT .*/b/kept-{fault}/o", "times": 1})
    cloud.rest("POST", "/vertex-local/faults", {"faults": faults})
    call = [str(fetching), "-c", STORE, f"gs://kept-{fault}/folder", str(tmp_path / "large")]
    try:
        said = run(call, STORAGE_EMULATOR_HOST=f"{cloud.url}/t/{cloud.token()}")
    finally:
        cloud.rest("DELETE", "/vertex-local/faults")
    assert said.splitlines() == ["['large', 'small']", "['metrics', 'steps']"]


def test_gemma2_lora_says_what_a_base_lacks(tmp_path: Path) -> None:
    def lacking() -> str:
        with pytest.raises(TroubleError) as error:
            obtain(str(tmp_path), tmp_path, {})
        return str(error.value)

    assert "no config.json, *.safetensors, tokenizer.*" in lacking()
    for name in ("model-1.safetensors", "tokenizer.json"):
        (tmp_path / name).touch()
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert "no model_type gemma2" in lacking()
    weights = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    assert "no model-2.safetensors" in lacking()


@pytest.mark.long
@pytest.mark.journey
def test_gemma2_lora_ends_when_the_loss_is_no_number(tuning: Path, tmp_path: Path) -> None:
    """Else the run ends well, with losses of 0 and an adapter of nothing but NaN."""
    call = command(tuning, tmp_path, "--learning-rate=1e30")
    done = subprocess.run(call, env=environ(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: the loss of step 3 is nan" in done.stderr and "lower -p learning_rate" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "adapter").exists()


MODEL = {
    "config.json": b'{"model_type": "gemma2"}',
    "model.safetensors": b"weights",
    "tokenizer.json": b"{}",
    "README.md": b"of no use",
}
ASK = """
import json, sys
from pathlib import Path
from gemma2_lora.base import obtain
from gemma2_lora.trouble import TroubleError

found = {}
for token in sys.argv[2:]:
    try:
        folder = obtain("google/gemma-2-2b", Path(sys.argv[1], token), {"HF_TOKEN": token} if token else {})
        found[token] = sorted(file.name for file in folder.iterdir())
    except TroubleError as error:
        found[token] = str(error)
print(json.dumps(found))
"""


@pytest.mark.journey
def test_gemma2_lora_downloads_with_the_token_and_says_what_is_wrong_with_it(fetching: Path, tmp_path: Path) -> None:
    ask = [str(fetching), "-c", ASK, str(tmp_path), GOOD, STRANGER, UNKNOWN, ""]
    with serving(MODEL) as hub:
        document = json.loads(run(ask, HF_ENDPOINT=hub).splitlines()[-1])
    assert document[GOOD] == ["config.json", "model.safetensors", "tokenizer.json"]
    stranger, unknown, none = document[STRANGER], document[UNKNOWN], document[""]
    assert "does not give google/gemma-2-2b" in stranger
    assert "https://huggingface.co/google/gemma-2-2b" in stranger
    assert "none of its own" in unknown
    assert "a version of the secret" in unknown
    assert "downloaded without a token" in none
    for text in (stranger, unknown, none):
        assert not any(token in text for token in (STRANGER, UNKNOWN))


@pytest.mark.journey
def test_gemma2_lora_says_when_the_hub_is_out_of_reach(fetching: Path, tmp_path: Path) -> None:
    call = command(fetching, tmp_path, "--model=2b")
    nowhere = environ(HF_ENDPOINT="http://127.0.0.1:9", HF_TOKEN=GOOD)
    done = subprocess.run(call, env=nowhere, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "downloaded from the hub" in done.stderr
    assert "why: " in done.stderr and "refused" in done.stderr
    assert "-p base=gs://BUCKET/FOLDER" in done.stderr
    assert "Traceback" not in done.stderr and GOOD not in done.stdout + done.stderr


FULL = """
import sys
import torch
from gemma2_lora import tuning

def full(*_):
    raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

tuning.tune = full
sys.exit(tuning.main(sys.argv[1:], {}))
"""
STARTS = """
import os, subprocess, sys
from gemma2_lora import task

program, *arguments = sys.argv[1:]
start = subprocess.run

def run(command, **more):
    at = command.index("-m", 2)
    return start([*command[:at], program, *command[at + 2 :]], **more)

subprocess.run = run
sys.exit(task.main(arguments, os.environ))
"""


@pytest.mark.long
@pytest.mark.journey
def test_gemma2_lora_has_the_last_word_where_a_process_of_several_runs_out_of_memory(
    tuning: Path, tmp_path: Path
) -> None:
    """The launcher of the processes ends with words of its own, which say nothing."""
    (tmp_path / "full.py").write_text(FULL)
    call = command(tuning, tmp_path / "output", "--processes=2")
    program = [call[0], "-c", STARTS, str(tmp_path / "full.py"), *call[3:]]
    done = subprocess.run(program, env=environ(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    *_, what, why, fix = done.stderr.splitlines()
    assert what.startswith("error: the GPU's memory does not hold") and "2.00 GiB" in why and "take fewer" in fix
