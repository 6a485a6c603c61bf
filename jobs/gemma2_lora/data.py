"""The data as it is named: a file of Cloud Storage or of this machine, or a dataset of the Hugging Face hub."""

from __future__ import annotations

import argparse
import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import hub, records, sonnets
from .examples import no_template
from .folder import Folder
from .options import NO_CHAT
from .records import Record
from .trouble import TroubleError

KINDS = (".jsonl", ".ndjson", ".json", ".parquet")  # Endings of files of records. Every other file is one text.
_NO_DATA = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")
_DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def read(known: argparse.Namespace, target: Path, environ: Mapping[str, str]) -> str | list[Record]:
    """Return what to train on: a text, or records. `target`: a folder of this machine. Raises TroubleError."""
    name = known.data
    if not name:
        return sonnets.TEXT
    if _DATASET.fullmatch(name) and Path(name).suffix.lower() not in (".txt", *KINDS) and not Path(name).exists():
        files, address = _of_the_hub(name, known.split, target, environ), f"{name} ({known.split})"
    else:
        files, address = [_stored(name, target)], name
        if files[0].suffix.lower() not in KINDS:
            try:
                return files[0].read_text("utf-8-sig")
            except UnicodeDecodeError as error:
                fix = f"save it in UTF-8; files of records end in one of {', '.join(KINDS)}"
                raise TroubleError(f"{address} is no text", str(error), fix) from error
    values = (value for file in files for value in _values(file, f"{file.name}, " if len(files) > 1 else ""))
    found = records.records(values, address, known.column)
    if known.base in NO_CHAT and any(record.turns for record in found):
        raise no_template(known.base)  # Known before gigabytes of it are fetched; of other bases their files tell.
    return found


def _stored(name: str, local: Path) -> Path:
    folder, _, file = name.rpartition("/")
    content = Folder(folder or ".").read(file)
    if content is None:
        raise TroubleError(
            f"there is no {name}",
            "it is what -p data names",
            "name a text or a JSONL file, gs://BUCKET/FILE, or a dataset of the hub, OWNER/NAME",
        )
    local.mkdir(parents=True, exist_ok=True)
    (local / file).write_bytes(content)
    return local / file


def _of_the_hub(dataset: str, split: str, target: Path, environ: Mapping[str, str]) -> list[Path]:
    page = f"https://huggingface.co/datasets/{dataset}"
    elsewhere = "or copy its records to a bucket and name them: -p data=gs://BUCKET/FILE.jsonl"
    token = environ.get(hub.TOKEN, "").strip()
    with hub.in_words(dataset, page, "-p data", elsewhere):
        from huggingface_hub import HfApi, snapshot_download

        there = HfApi(token=token or None).list_repo_files(dataset, repo_type="dataset")
        names = chosen(there, split)
        if names:
            found = snapshot_download(
                dataset, repo_type="dataset", cache_dir=target, token=token or False, allow_patterns=names
            )
            return [Path(found, name) for name in names]
    raise TroubleError(
        f"{dataset} has no file of the split {split!r}",
        f"it has {', '.join(there[:20]) or 'no files'}{' …' if len(there) > 20 else ''}",
        f"name the split as the files do, -p split=…; {elsewhere}",
    )


def chosen(files: Sequence[str], split: str) -> list[str]:
    """Return the files of one kind with the split in their path, or the only file with records, whatever its name.

    Empty when there is none."""
    data = [name for name in files if Path(name).suffix in KINDS and Path(name).name not in _NO_DATA]
    named = [name for name in data if re.search(rf"(?<![A-Za-z0-9]){re.escape(split)}(?![A-Za-z0-9])", name)]
    wanted = named or (data if len(data) == 1 else [])
    kind = min((KINDS.index(Path(name).suffix) for name in wanted), default=0)
    return sorted(name for name in wanted if Path(name).suffix == KINDS[kind])


def _values(file: Path, before: str) -> Iterator[tuple[str, Any]]:
    """Each record of a file, with where it is; `before` stands before that."""
    kind, content = file.suffix.lower(), file.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        if kind == ".parquet":
            from pyarrow import parquet

            found = [(f"row {number}", value) for number, value in enumerate(parquet.read_table(file).to_pylist(), 1)]
        elif kind == ".json" and content.lstrip()[:1] == b"[":
            found = [(f"item {number}", value) for number, value in enumerate(json.loads(content), 1)]
        else:
            found = list(records.lines(content))
    except ValueError as error:
        raise TroubleError(f"{file.name} can't be read", f"it is not {kind[1:]}: {error}", "correct it") from error
    yield from ((f"{before}{where}", value) for where, value in found)
