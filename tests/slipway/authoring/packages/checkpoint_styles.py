"""The ways in which frameworks and people save checkpoints, each as the steps that change the output folder.

A step takes effect as a whole, as a rename does, or a write that is closed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

Step = Callable[[Path], object]


def write(name: str, text: str) -> Step:
    def step(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    return step


def append(name: str, text: str) -> Step:
    def step(folder: Path) -> None:
        with (folder / name).open("a") as file:
            file.write(text)

    return step


def replace(old: str, new: str) -> Step:
    return lambda folder: (folder / old).replace(folder / new)


def remove(name: str) -> Step:
    return lambda folder: (folder / name).unlink()


def remove_folder(name: str) -> Step:
    return lambda folder: shutil.rmtree(folder / name)


def link(name: str, target: str) -> Step:
    def step(folder: Path) -> None:
        (folder / "link.new").symlink_to(target)
        (folder / "link.new").replace(folder / name)

    return step


def hard_link(name: str, other: str) -> Step:
    def step(folder: Path) -> None:
        os.link(folder / name, folder / "link.new")
        (folder / "link.new").replace(folder / other)

    return step


def renamed_folders() -> Iterator[Step]:
    """As the Trainer of Transformers saves, with the last two kept."""
    for number in range(1, 5):
        for name in ("model", "optimizer", "state"):
            yield write(f"tmp-{number}/{name}", f"{name} of {'I' * number}")
        yield replace(f"tmp-{number}", f"checkpoint-{number}")
        yield write("latest", f"checkpoint-{'I' * number}")
        if number > 2:
            yield remove_folder(f"checkpoint-{number - 2}")


def swapped_folder() -> Iterator[Step]:
    for number in range(1, 4):
        for name in ("model", "optimizer"):
            yield write(f"next/{name}", f"{name} of {'I' * number}")
        if number > 1:
            yield replace("last", "before")
        yield replace("next", "last")
        if number > 1:
            yield remove_folder("before")


def replaced_files() -> Iterator[Step]:
    """As docs/own-code.md saves, and a pointer that is written after what it names."""
    for number in range(1, 5):
        yield write("model.new", f"model of {'I' * number}")
        yield replace("model.new", f"model-{number}")
        yield write("latest.new", f"model-{'I' * number}")
        yield replace("latest.new", "latest")
        yield append("log.txt", f"epoch {number}\n")
        if number > 1:
            yield remove(f"model-{number - 1}")


def linked_folders() -> Iterator[Step]:
    for number in range(1, 4):
        for name in ("model", "optimizer"):
            yield write(f"checkpoint-{number}/{name}", f"{name} of {'I' * number}")
        yield link("last", f"checkpoint-{number}")
        if number > 1:
            yield remove_folder(f"checkpoint-{number - 1}")


def many_files() -> Iterator[Step]:
    yield from (write(f"samples/{number}.txt", "x" * number) for number in range(1, 10))
    yield replace("samples", "done")


def removed_before_saving() -> Iterator[Step]:
    """As the Trainer does with `save_total_limit=1` and the best model kept: the old one goes after the new one."""
    for number in range(1, 5):
        for name in ("model", "rng", "state"):
            yield write(f"checkpoint-{number}/{name}", f"{name} of {'I' * number}")
        if number > 1 and number != 3:
            yield remove_folder(f"checkpoint-{number - 1}")
    yield remove_folder("checkpoint-2")


def best_and_last() -> Iterator[Step]:
    """As Lightning's ModelCheckpoint: the best ones by name, and `last.ckpt`."""
    for number in range(1, 5):
        yield write("tmp-a", f"model of {'I' * number}")
        yield replace("tmp-a", f"epoch={number}-loss=0.{9 - number}.ckpt")
        yield write("tmp-b", f"model of {'I' * number}")
        yield replace("tmp-b", "last.ckpt")
        if number > 1:
            yield remove(f"epoch={number - 1}-loss=0.{10 - number}.ckpt")


def shards_and_a_tag() -> Iterator[Step]:
    """As DeepSpeed: a folder of each rank's files, then a file with the folder's name."""
    for number in range(1, 4):
        for rank in range(3):
            yield write(f"global_step{number}/zero_pp_rank_{rank}.pt", f"{rank} of {'I' * number}")
        yield write("latest", f"global_step{'I' * number}")
        if number > 1:
            yield remove_folder(f"global_step{number - 1}")


def metadata_last() -> Iterator[Step]:
    """As PyTorch's distributed checkpoints: shards, then a hidden file that makes them valid."""
    for number in range(1, 4):
        for rank in range(2):
            yield write(f"step-{number}/__{rank}_0.distcp", f"{rank} of {'I' * number}")
        yield write(f"step-{number}/.metadata", f"metadata of {'I' * number}")


def deep_folders() -> Iterator[Step]:
    """As Orbax: a deep folder under a temporary name, renamed."""
    for number in range(1, 4):
        for name in ("_METADATA", "d/0a1b", "d/2c3d", "ocdbt.process_0/d/4e5f"):
            yield write(f"tmp-{number}/default/{name}", f"{name} of {'I' * number}")
        yield replace(f"tmp-{number}", f"{number}")
        if number > 1:
            yield remove_folder(f"{number - 1}")


def moved_parts() -> Iterator[Step]:
    """As TensorFlow: parts in a temporary folder, moved one by one, and a file that names the newest."""
    for number in range(1, 4):
        yield write(f"tmp-{number}/data", f"data of {'I' * number}")
        yield write(f"tmp-{number}/index", f"index of {'I' * number}")
        yield replace(f"tmp-{number}/data", f"ckpt-{number}.data-00000-of-00001")
        yield replace(f"tmp-{number}/index", f"ckpt-{number}.index")
        yield write("latest.new", f"ckpt-{'I' * number}")
        yield replace("latest.new", "checkpoint")
        if number > 1:
            yield remove(f"ckpt-{number - 1}.index")
            yield remove(f"ckpt-{number - 1}.data-00000-of-00001")


def overwritten() -> Iterator[Step]:
    """As `torch.save(state, "model.pt")`, with a second file that belongs to it."""
    for number in range(1, 6):
        yield write("model.pt", f"model of {'I' * number}")
        yield write("optimizer.pt", f"optimizer of {'I' * number}")


def two_places() -> Iterator[Step]:
    """Two places by turns, and a pointer to the one that is whole."""
    for number in range(1, 6):
        place = "ab"[number % 2]
        yield write(f"{place}/model", f"model of {'I' * number}")
        yield write(f"{place}/state", f"state of {'I' * number}")
        yield write("latest.new", place)
        yield replace("latest.new", "current")


def removed_then_saved() -> Iterator[Step]:
    """As code that deletes the folder that it is about to write, and does not like a folder that exists."""
    for number in range(1, 5):
        for name in ("model", "optimizer", "state"):
            yield write(f"checkpoint/{name}", f"{name} of {'I' * number}")
        if number < 4:
            yield remove_folder("checkpoint")


def hard_links() -> Iterator[Step]:
    """The best checkpoint is a second name of a file."""
    for number in range(1, 5):
        yield write("model.new", f"model of {'I' * number}")
        yield replace("model.new", f"model-{number}.pt")
        if number % 2:
            yield hard_link(f"model-{number}.pt", "best.pt")
        if number > 1:
            yield remove(f"model-{number - 1}.pt")


def links_to_files() -> Iterator[Step]:
    for number in range(1, 5):
        yield write(f"model-{number}.pt", f"model of {'I' * number}")
        yield link("last.pt", f"model-{number}.pt")
        if number > 1:
            yield remove(f"model-{number - 1}.pt")


def folder_to_archive() -> Iterator[Step]:
    """A folder is packed into one file, and deleted."""
    for number in range(1, 4):
        for name in ("model", "optimizer"):
            yield write(f"tmp-{number}/{name}", f"{name} of {'I' * number}")
        yield write("model.new", f"archive of {'I' * number}")
        yield replace("model.new", f"checkpoint-{number}.zip")
        yield remove_folder(f"tmp-{number}")


def rotated_names() -> Iterator[Step]:
    """As logs are rotated: each save moves the older ones on by one."""
    for number in range(1, 5):
        yield write("model.new", f"model of {'I' * number}")
        for age in range(min(number, 3) - 1, 0, -1):
            yield replace(f"model.{age}", f"model.{age + 1}")
        yield replace("model.new", "model.1")


def renamed_run() -> Iterator[Step]:
    """All of a run is in a folder that gets its name at the end."""
    for number in range(1, 4):
        yield write(f"tmp-run/checkpoints/{number}/model", f"model of {'I' * number}")
        yield write(f"tmp-run/checkpoints/{number}/state", f"state of {'I' * number}")
        yield append("tmp-run/log.txt", f"epoch {number}\n")
    yield replace("tmp-run", "run-best")


def index_and_shards() -> Iterator[Step]:
    """As large models are saved: shards, then an index of them; a second save has other shards."""
    for number in range(2, 5):
        for shard in range(number):
            yield write(f"next/model-{shard}-of-{number}.safetensors", f"{shard} of {'I' * number}")
        yield write("next/model.safetensors.index.json", ",".join(f"{shard}" for shard in range(number)))
        if number > 2:
            yield remove_folder("model")
        yield replace("next", "model")


def database() -> Iterator[Step]:
    """As SQLite: what is to change is in a journal first, the file changes, the journal is deleted."""
    yield write("study.db", "trials: none")
    for number in range(1, 5):
        yield write("study.db-journal", f"before {'I' * number}")
        yield write("study.db", f"trials: half of {'I' * number}")
        yield write("study.db", f"trials: {'I' * number}")
        yield remove("study.db-journal")


STYLES = {
    style.__name__: style
    for style in (
        renamed_folders,
        swapped_folder,
        replaced_files,
        linked_folders,
        many_files,
        removed_before_saving,
        best_and_last,
        shards_and_a_tag,
        metadata_last,
        deep_folders,
        moved_parts,
        overwritten,
        two_places,
        removed_then_saved,
        hard_links,
        links_to_files,
        folder_to_archive,
        rotated_names,
        renamed_run,
        index_and_shards,
        database,
    )
}
