"""The files of a change, of texts by path instead of two checkouts, and the findings about them."""

from collections.abc import Mapping
from typing import Any

from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding
from slipway.reviewing.change.files import Files, Sides, is_code
from slipway.reviewing.findings.files import file_findings
from tests.slipway.reviewing.builders import change, facts, offer, request, template, worker_pool

TASK = "jobs/lora/task.py"
CODE = """import argparse, os
from pathlib import Path
p = argparse.ArgumentParser()
p.add_argument("--model", choices=("a", "b"))
args = p.parse_args()
OUT = Path(os.environ["SLIPWAY_OUTPUT"]) / "ckpt"
os.replace(OUT, OUT)
torch.load(OUT)
"""
IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:20260901"


def found(files: Files, old: Template | None = None, new: Template | None = None) -> list[Finding]:
    was = facts(old) if old else facts()
    comparison = change(was, facts(new) if new else was, files=files).comparison
    return list(file_findings(comparison, files))


def edit(path: str, text: str, old: str, new: str) -> Files:
    assert old in text
    return edited({path: text}, {path: text.replace(old, new)})


def lora(*args: str, env: Mapping[str, str] | None = None, image: str = IMAGE, **fields: Any) -> Template:
    pool = worker_pool(args=["--module", "lora.task", "--", *args], env=env)
    pool["pythonPackageSpec"]["executorImageUri"] = image
    return template("lora", offer(request=request(pool)), checkpoints=True, **fields)


def edited(before: Mapping[str, str], after: Mapping[str, str]) -> Files:
    """Return the files of a change from some texts to others; those that are equal are not touched."""
    touched = frozenset(path for path in {*before, *after} if before.get(path) != after.get(path))
    texts = {path: Sides(before.get(path, ""), after.get(path, "")) for path in touched}
    code = {path: text for path, text in after.items() if is_code(path)}
    of_jobs = frozenset(path for path in after if path.startswith("jobs/"))
    return Files(touched, touched - after.keys(), texts=texts, code=code, of_jobs=of_jobs)
