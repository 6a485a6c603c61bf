"""The base model as a folder of this machine: from Cloud Storage, from the Hugging Face hub, or made here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from . import hub
from .folder import Folder
from .trouble import TroubleError

_WANTED = ("*.json", "*.safetensors", "tokenizer.model", "chat_template.jinja")


def obtain(base: str, target: Path, environ: Mapping[str, str]) -> Path:
    """`base` is a gs:// address, a local folder, or a repository of the hub. Raises TroubleError."""
    if base.startswith("gs://"):
        return _stored(Folder(base), target)
    if Path(base).is_dir():
        return _whole(Path(base), base)
    return _from_hub(base, target, environ)


def _stored(folder: Folder, target: Path) -> Path:
    names = [name for name in folder.names() if any(Path(name).match(wanted) for wanted in _WANTED)]
    for name in names:
        folder.fetch(name, target / name)
    return _whole(target, folder.address)


def _whole(folder: Path, address: str) -> Path:
    lacks = [name for name in ("config.json", "*.safetensors", "tokenizer.*") if not any(folder.glob(name))]
    for index in folder.glob("*.safetensors.index.json"):
        shards = set(json.loads(index.read_bytes())["weight_map"].values())
        lacks += sorted(name for name in shards if not (folder / name).is_file())
    if not lacks and json.loads((folder / "config.json").read_bytes()).get("model_type") != "gemma2":
        lacks = ["model_type gemma2 in its config.json"]
    if lacks:
        raise TroubleError(
            f"{address} holds no base model",
            f"there is no {', '.join(lacks)}",
            "name a Gemma 2 as the hub has it: config.json, *.safetensors and the tokenizer's files",
        )
    return folder


def _from_hub(repository: str, target: Path, environ: Mapping[str, str]) -> Path:
    token = environ.get(hub.TOKEN, "").strip()
    if not token:
        raise TroubleError(
            f"{repository} can't be downloaded without a token",
            f"Gemma is gated on the hub, and {hub.TOKEN} is not set",
            f"run it by its template, which reads the token from Secret Manager, or set {hub.TOKEN}",
        )
    elsewhere = "or copy the weights to a bucket and name them: -p base=gs://BUCKET/FOLDER"
    page = f"https://huggingface.co/{repository}"
    with hub.in_words(repository, page, "-p base", elsewhere):
        from huggingface_hub import snapshot_download

        found = snapshot_download(repository, cache_dir=target, token=token, allow_patterns=list(_WANTED))
    return _whole(Path(found), repository)
