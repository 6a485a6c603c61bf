"""The table of Vertex AI's prebuilt training images: the GPUs that they run on, and their last days.

Only what the table has is judged: neither images of one's own nor prebuilt ones that it lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from slipway.base import codec
from slipway.model.machines.table import accelerator, accelerators

_NAME = re.compile(r"(?:(?:us|europe|asia)-docker\.pkg\.dev/vertex-ai|gcr\.io/cloud-aiplatform)/training/([^:@/]+)\S*")
_REQUIRED = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class PrebuiltImage:
    name: str
    #: Its name on PyPI.
    framework: str
    version: str
    python: str
    #: Days, as 2026-07-24: after the first Google mends nothing in it, after the second nobody may use it.
    end_of_patches: str
    end_of_availability: str
    #: None in images for CPUs.
    cuda: str | None = None
    #: The range of compute capabilities that its framework is built for; None where that is not known.
    oldest_gpu: float | None = None
    newest_gpu: float | None = None

    def misfit(self, gpu: str, requirements: Iterable[str] = ()) -> str:
        """Return why the image can't run on a GPU, by its enum name; empty where it can, where nobody knows, and where
        the code's requirements bring the framework."""
        has = accelerator(gpu).compute_capability
        if has is None or self.oldest_gpu is None or self.newest_gpu is None:
            return ""
        brought = (found[0] for line in requirements if (found := _REQUIRED.match(line)))
        if self.oldest_gpu <= has <= self.newest_gpu or self.framework in brought:
            return ""
        built = f"its {self.framework} {self.version} is built for compute capability {self.oldest_gpu}"
        return f"image {self.name} can't run on {gpu}: {built} to {self.newest_gpu}, and this GPU has {has}"

    @property
    def newer(self) -> str:
        """Return the newest image of Google's list for the same framework and hardware; empty if it is this one."""
        kind = self.name.partition(".")[0]
        alike = [image for image in _table().values() if image.name.partition(".")[0] == kind]
        newest = max(alike, key=PrebuiltImage._order)
        return newest.name if newest._order() > self._order() else ""

    @property
    def fix(self) -> str:
        """Return the fix of an image with a newer one."""
        return f"training/{self.newer}, the newest of Google's list, or an image of your own: code=Image(…)"

    def _order(self) -> tuple[int, ...]:
        return tuple(map(int, self.version.split(".")))

    def gone(self, now: datetime) -> bool:
        """Return whether Google's list no longer offers it."""
        return now.date().isoformat() > self.end_of_availability

    def ended(self, now: datetime) -> str:
        """Return which of its days is over, the worse one; empty before both."""
        if self.gone(now):
            return f"image {self.name} may be gone: Google's list offered it until {self.end_of_availability}"
        if now.date().isoformat() > self.end_of_patches:
            return f"image {self.name} has had no security updates since {self.end_of_patches}"
        return ""


def prebuilt(uri: str) -> PrebuiltImage | None:
    """Return the image of the table that an address names; None for any other."""
    named = _NAME.fullmatch(uri)
    return _table().get(named[1]) if named else None


def misfits(worker_pools: Iterable[Mapping[str, Any]], requirements: Iterable[str]) -> Iterator[str]:
    """Yield each image that can't run on the GPUs of its worker pool, by `PrebuiltImage.misfit`."""
    needed = tuple(requirements)
    for pool in worker_pools:
        gpu = str((pool.get("machineSpec") or {}).get("acceleratorType"))
        for image in images_of([pool]) if gpu in accelerators() else ():
            if why := image.misfit(gpu, needed):
                yield why


def images_of(worker_pools: Iterable[Mapping[str, Any]]) -> Iterator[PrebuiltImage]:
    """Yield the images of the table that a request's worker pools run, each once."""
    codes = (pool.get("pythonPackageSpec") or pool.get("containerSpec") or {} for pool in worker_pools)
    uris = dict.fromkeys(str(code.get("executorImageUri") or code.get("imageUri") or "") for code in codes)
    yield from dict.fromkeys(filter(None, map(prebuilt, uris)))


@cache
def _table() -> Mapping[str, PrebuiltImage]:
    table = json.loads(Path(__file__).with_name("images.json").read_text("utf-8"))
    return {name: codec.read(PrebuiltImage, {**row, "name": name}) for name, row in table["images"].items()}
