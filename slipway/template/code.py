"""What a job runs: a Python package in one of Vertex AI's images, or a container image."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_PINNED = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Package:
    """Code as a Python package: the folder is the import package, `module` what is run, `image` a prebuilt executor.

    `folder` is relative to the repository's root; its requirements.txt, if any, is installed with it.
    """

    folder: str
    module: str
    image: str

    def problems(self) -> Iterable[str]:
        if not _MODULE.fullmatch(self.module):
            yield f"code.module: {self.module!r} is not a module name"
        elif self.module.split(".")[0] != self.folder.rstrip("/").rsplit("/", 1)[-1]:
            yield f"code: module {self.module} is not in the import package {self.folder}"


@dataclass(frozen=True)
class Image:
    """Code as a container image, pinned by digest: `…@sha256:…`, so that what runs is what was reviewed.

    `command` replaces its ENTRYPOINT (CMD is ignored then); a worker pool's `args` replace its CMD. An image has no
    launcher: a submission whose answer is lost may run it twice.
    """

    uri: str
    command: tuple[str, ...] = ()

    def problems(self) -> Iterable[str]:
        if not _PINNED.fullmatch(self.uri):
            yield f"code: image {self.uri!r} is not pinned; write NAME@sha256:DIGEST"


Code = Package | Image
