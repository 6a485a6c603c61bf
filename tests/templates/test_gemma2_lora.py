"""gemma2-lora on a laptop: the same code on a tiny Gemma 2, preempted on the way; and what 27b waits for. # Z1 X3"""

import json
import re
import struct
from urllib.parse import quote

import pytest

from tests.checkouts.checkout import PROJECT

from .stack import Job, Stack

pytestmark = pytest.mark.journey

TOKEN = "hf_5ecretForThisTestAlone"
STEPS, EVERY = 12, 4
LOSS = re.compile(rb"\x10(.)\x2a.\x0a.\x0a.train/loss\x15(....)", re.DOTALL)
"""The step and the value of a loss in an event file, as PyTorch's SummaryWriter writes it."""


@pytest.fixture(scope="session", autouse=True)
def _token(deployed: Stack) -> None:
    """Once for the stack: a worker may come back to this module when it has run others in between."""
    deployed.secret("hf-token", TOKEN)


@pytest.mark.long
def test_gemma2_lora_preempted_goes_on_from_its_checkpoint_and_leaves_a_model(stack: Stack) -> None:  # X3 Z3 W5
    stack.hold_write(15)  # of the second checkpoint, which has as many files
    small = {"model": "tiny", "steps": STEPS, "every": EVERY, "length": 64}
    job = stack.submit("gemma2-lora", "--as", "training-pipeline", "--capacity", "spot", **small)
    job.held()
    job.said("checkpoint of step 4 written")
    stack.scenario(spot={"preempt": [{"job": job.display_name, "times": 1}]})
    job = job.finished()
    assert job.unshown("logs") == []
    assert job.unshown("show") == []

    lines = job.lines
    assert any("goes on from the checkpoint of step 4" in line for line in lines)
    *told, end = job.metrics
    assert end == {"step": STEPS, "attempts": 2}
    assert [item["step"] for item in told] == list(range(1, STEPS + 1))
    assert told[-1]["loss"] < told[0]["loss"] - 0.5
    adapter = json.loads(job.output("adapter/adapter_config.json"))
    assert (adapter["peft_type"], adapter["r"], adapter["base_model_name_or_path"]) == ("LORA", 16, "tiny")
    assert len(job.output("adapter/adapter_model.safetensors")) > 32_768 * 4

    # TensorBoard reads the folder as one: each step once, also those that the lost attempt did again.
    losses = {
        step[0]: struct.unpack("<f", value)[0]
        for name in listed(stack, f"{job.document['output']}/logs/")
        for step, value in LOSS.findall(stack.content(name))
    }
    assert sorted(losses) == list(range(1, STEPS + 1))
    assert losses[STEPS] == pytest.approx(told[-1]["loss"])
    assert_served(job)

    # The token was there, and is nowhere else.
    assert any("a token for the Hugging" in line for line in lines)
    request = stack.cloud.rest("GET", f"/v1/{job.name}")
    assert f"projects/{PROJECT}/secrets/hf-token/versions/latest" in json.dumps(request)
    catalog = stack.content(f"{stack.checkout.catalog}/catalog.json").decode()
    for seen in ("\n".join(lines), json.dumps(request), catalog, json.dumps(job.document)):
        assert TOKEN not in seen


def assert_served(job: Job) -> None:
    """The registry has the whole model, with the server that is to serve it."""
    stack = job.stack
    name, _, version = job.document["model"].partition("@")
    model = stack.cloud.rest("GET", f"/v1/{name}@{version}")
    described = f"Gemma 2 tiny with the adapter of {job.display_name}"
    assert (model["displayName"], model["description"]) == ("gemma-2-tiny-lora", described)
    assert model["artifactUri"] == f"{job.document['output']}/model"
    server = model["containerSpec"]
    assert "--model=$(AIP_STORAGE_URI)" in server["args"] and server["predictRoute"] == "/generate"
    files = {file.rpartition("/")[2] for file in listed(stack, f"{model['artifactUri']}/")}
    assert {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"} <= files
    config = json.loads(stack.content(f"{model['artifactUri']}/config.json"))
    assert (config["architectures"], config["torch_dtype"]) == (["Gemma2ForCausalLM"], "bfloat16")


def listed(stack: Stack, uri: str) -> list[str]:
    """The objects below gs://BUCKET/PREFIX."""
    bucket, _, prefix = uri.removeprefix("gs://").partition("/")
    answer = stack.cloud.rest("GET", f"/storage/v1/b/{bucket}/o?prefix={quote(prefix, safe='')}")
    return [f"gs://{bucket}/{item['name']}" for item in answer.get("items", [])]


def test_gemma2_lora_refuses_gpus_that_are_too_small_before_anything_is_sent(stack: Stack) -> None:  # Z1 N3
    done = stack.slipway("submit", "gemma2-lora", "-p", "model=27b", "-p", "accelerator=L4")
    assert done.code != 0
    assert "take A100_80GB or H100" in done.said
