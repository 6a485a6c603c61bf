"""Every template that ships has its line in the guide and is run by tests, and the guide has no other. # D3"""

import re
import tomllib
from pathlib import Path

import pytest

from slipway.authoring.template.load import load
from slipway.authoring.template.proof import StackResources, prove
from slipway.model.machines.images import prebuilt
from slipway.model.machines.spec import MachineSpec
from slipway.model.machines.table import accelerator
from slipway.model.prices import hourly
from tests import shipped
from tests.docs.console import blocks
from tests.slipway.authoring.stack.files import read, with_config

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "templates.md").read_text("utf-8")
OWN = ROOT / "docs" / "write-a-template.md"
ROWS: list[tuple[str, str]] = re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]+) \|.*\|$", GUIDE, re.MULTILINE)


def test_the_guides_table_is_the_templates_folder() -> None:
    """A team may leave out the lines of its own templates, and those of templates that it has taken away."""
    told = {name for name, _ in ROWS}
    assert told >= set(shipped.templates())
    named = {file.stem.replace("_", "-") for file in (ROOT / "templates").glob("[a-z]*.py")}
    assert told <= named | set(shipped.taken_away())


def test_the_kinds_told_are_the_kinds_that_a_template_has() -> None:
    rows = dict(ROWS)
    for template in (load(name, ROOT / "templates") for name in shipped.templates()):
        assert rows[template.name].startswith(template.kind.replace("-", " ")), template.name
        assert all(f"--as {kind}" in rows[template.name] for kind in template.kinds[1:])


def test_the_scenarios_told_are_scenarios_for_templates_that_can_be_preempted() -> None:
    parsing = pytest.importorskip("vertex_local.supply.parsing", reason="needs the local cloud", exc_type=ImportError)
    scenarios = blocks(ROOT / "docs" / "templates.md", "toml")
    told = [preemption.job for block in scenarios for preemption in parsing.parse(tomllib.loads(block)).preemptions]
    assert told
    for name in set(told) & set(shipped.templates()):
        assert "spot" in load(name, ROOT / "templates").capacity_types


def test_the_template_told_can_be_written_as_it_stands_and_fits_a_pool(tmp_path: Path) -> None:  # D3
    declared, code, *_ = blocks(OWN, "python")
    (tmp_path / "count_words.py").write_text(declared)
    template = load("count-words", tmp_path)
    pool = "{ machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 }"
    stack = read(with_config(f"slipway:persistentResources: {{ cpu: {{ pools: {{ workers: {pool} }} }} }}"))
    assert [
        (offer.capacity_type, offer.refusal)
        for offer in prove(template, StackResources(stack.clusters, region=stack.region))
    ] == [
        ("pool", ""),
        ("on-demand", ""),
    ]
    compile(code, "task.py", "exec")


def test_gemma2_loras_dollars_are_those_of_the_price_tables() -> None:
    """Tokens a second were measured; what a million of them costs follows from the machine's price."""
    page = (ROOT / "docs" / "gemma2-lora.md").read_text("utf-8")
    rate = hourly(MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8), "us-central1").known
    assert f"one of eight GPUs at ${rate:,.0f} an hour for the machine" in page.replace("\n", " ")
    rows = re.findall(r"^\| (\d+b) \| ([\d,]+) \([\d,]+\) \| ([\d.]+) \| [\d.]+ \|$", page, re.MULTILINE)
    assert [model for model, _, _ in rows] == ["2b", "9b", "27b"]
    for model, tokens, dollars in rows:
        seconds = 1_000_000 / int(tokens.replace(",", ""))
        assert f"{float(rate) / 8 * seconds / 3600:.2f}" == dollars, model


def test_the_prebuilt_images_of_the_guide_are_the_tables() -> None:
    guide = OWN.read_text("utf-8")
    row = r"^\| `([\w.-]+)` \| ([\d.]+), (\S+) \| (up to H200|unknown) \| (\S+) \| (\S+) \|$"
    rows = re.findall(row, guide, re.MULTILINE)
    assert len(rows) == 4
    for name, python, cuda, gpus, patches, last in rows:
        image = prebuilt(f"us-docker.pkg.dev/vertex-ai/training/{name}:latest")
        assert image and (image.python, image.cuda) == (python, cuda)
        assert (image.end_of_patches, image.end_of_availability) == (patches, last)
        assert (gpus == "unknown") == (image.newest_gpu is None)
        assert image.newest_gpu in (None, accelerator("NVIDIA_H200_141GB").compute_capability)
