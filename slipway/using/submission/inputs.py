"""The inputs of a submission before it is sent: their sizes, beside the disks of its machines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from itertools import islice

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, quoted, size
from slipway.google.failures import CloudError, NotFound
from slipway.google.storage import Location, Storage, StoredObject
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import DOLLAR, fill
from slipway.model.catalog.template import Offer
from slipway.model.labels import ADDRESS, HUB_ADDRESS, INPUT, INPUT_ADDRESS, inputs_in
from slipway.using.context import Context
from slipway.using.submission.candidate import Candidate

MOST_OBJECTS, MOST_ADDRESSES = 10_000, 16
"""The limits of a look: ten pages of a list, of each of the first addresses of a sweep."""
SYSTEM_GB = 30
"""The part of a disk that is left to the system and the image. Google names no number."""
_GB = 10**9
_HUB_PAGE = re.compile(r"(?:https://)?(?:huggingface\.co|hf\.co)/((?:datasets/|spaces/)?[\w.-]+/[\w.-]+)(?:/.*)?")
_SAME = re.compile(
    r"(?:/gcs/|https://storage\.(?:googleapis|cloud\.google)\.com/|https://console\.cloud\.google\.com/storage/browser/"
    r"|(?i:gcs://|gs://|gs:/))([a-z0-9][^/\s;]*(?:/[^;]*)?)(?:;.*)?"
)
"""An address of Cloud Storage as a mount, a browser or a slip of the hand has it."""
_HUB_NAME = re.compile(r"hf://[\w.-]+/?")
_OTHER_PLACES = ("http://", "https://", "ftp://")


def contents(storage: Storage, address: str) -> tuple[int, str]:
    """Return the bytes at an address, as far as was looked, and what to tell of it. Raises ConfigError for nothing, and
    for objects that can't be files."""
    if HUB_ADDRESS.fullmatch(address):
        return 0, "fetched from the Hugging Face hub by each machine; not known: whether it is there, and fits the disk"
    at = Location.parse(address)
    folder = at.name.rstrip("/")
    try:
        within = storage.objects(Location(at.bucket, folder and f"{folder}/"))
        # An object of that very name is the first of those that begin with it.
        listed = list(islice(within, MOST_OBJECTS + 1)) or list(islice(storage.objects(Location(at.bucket, folder)), 1))
    except NotFound:
        listed = []
    except CloudError as problem:
        return 0, f"not known whether it fits the disk: {problem.brief}"
    files = [each for each in listed if not folder or f"{each.at.name}/".startswith(f"{folder}/")]
    sizes = [each.size for each in files if not each.at.name.endswith("/")]
    whole = len(listed) <= MOST_OBJECTS
    if whole and not sizes:
        raise ConfigError(
            f"nothing was sent: nothing is at {address}",
            why="the job would copy it before its code starts, and fail",
            fix=_without_wildcard(address) or "correct the address, or write the files first",
        )
    _require_file_names(address, files)
    least, unsure = ("", "") if whole else ("at least ", "; not known: whether they fit the disk")
    told = f"{least}{counted(f'{len(sizes):,}', 'object')}, {least}{size(sum(sizes))}"
    return sum(sizes), f"{told}, copied to each machine before the code starts{unsure}"


def _require_file_names(address: str, objects: Iterable[StoredObject]) -> None:
    """Raise ConfigError if the launcher can't keep these objects of an address as files of one folder."""
    from slipway.authoring.packages.slipway_http import (
        StorageError,
    )  # The launcher's modules, only for jobs with inputs.
    from slipway.authoring.packages.slipway_storage import by_path, must_fit

    entries = (
        {"bucket": stored.at.bucket, "name": stored.at.name, "metadata": stored.metadata}
        for stored in objects
        if not stored.at.name.endswith("/")
    )
    try:
        must_fit(by_path(address, entries))
    except StorageError as problem:
        raise ConfigError(
            f"nothing was sent: {problem}",
            why="each object of an input becomes a file on the machine's disk, and the job would fail before its code "
            "starts",
            fix="rename the object: gcloud storage mv OLD NEW; or name a folder without it",
        ) from problem


def _instead_of(address: str) -> str:
    """Return what to name in the place of what is no address of Cloud Storage."""
    if repository := _HUB_PAGE.fullmatch(address):
        return f"hf://{repository[1]}, as the hub's files are named here"
    if there := _SAME.fullmatch(address):
        return f"gs://{there[1]}, as an input is gs://BUCKET/FOLDER"
    if _HUB_NAME.fullmatch(address):
        return "gs://BUCKET/FOLDER, or of the hub hf://ORG/NAME and hf://datasets/ORG/NAME"
    if address.startswith(_OTHER_PLACES):
        name = address.partition("?")[0].rstrip("/").rpartition("/")[2]
        return f"curl -L {shlex.quote(address)} | gcloud storage cp - gs://BUCKET/{name}, and name gs://BUCKET/{name}"
    if "://" not in address or address.startswith("s3://"):
        return f"gcloud storage cp -r {shlex.quote(address)} gs://BUCKET/FOLDER, and name gs://BUCKET/FOLDER"
    return "gs://BUCKET/FOLDER, or one object there"


def _without_wildcard(address: str) -> str:
    """Return the way out of a wildcard, which no input has; empty for none."""
    folder = re.split(r"/[^/]*[*?\[]", address)[0]
    return f"name the folder: {folder}" if folder != address and ADDRESS.fullmatch(folder) else ""


@dataclass(frozen=True)
class InputCheck:
    """A look at the inputs of runs that has begun: `runs` has those of each run, `found` is by address."""

    runs: tuple[tuple[str, ...], ...]
    found: Mapping[str, Future[tuple[int, str]]]

    @classmethod
    def begin(
        cls, context: Context, offer: Offer, runs: Iterable[Mapping[str, Value]], threads: Executor
    ) -> InputCheck | None:
        """Begin a look at the inputs of runs with these parameters; None where the template has none, and nothing is
        read. Raises ConfigError for what is no address."""
        declared = inputs_in(offer.spec)
        if not declared:
            return None
        filled = [fill(declared, {**values, DOLLAR: "$"}) for values in runs]
        for variable, address in (entry for run in filled for entry in run.items()):
            if address and not INPUT_ADDRESS.fullmatch(address):
                raise ConfigError(
                    f"input {variable.removeprefix(INPUT).lower()} is {quoted(address)}",
                    why="it names files in Cloud Storage, which are copied to each machine before the code starts",
                    fix=_instead_of(address),
                )
        each = tuple(tuple(filter(None, run.values())) for run in filled)
        first = islice(dict.fromkeys(address for run in each for address in run), MOST_ADDRESSES)
        return cls(each, {name: threads.submit(contents, context.hurried.storage, name) for name in first})

    @property
    def most(self) -> int:
        """The most bytes that a run reads, as far as was looked."""
        return max(
            sum(self.found[address].result()[0] for address in run if address in self.found) for run in self.runs
        )

    def check(
        self, candidates: Iterable[Candidate], tell: Callable[[str], None], places: Iterable[int] | None = None
    ) -> None:
        """Tell the size of each input of the runs at these places, None for all: others may have been sent long ago.
        Raises ConfigError for the first that is not there, and where they are known not to fit the smallest disk of
        these candidates."""
        runs = self.runs if places is None else [self.runs[place] for place in places]
        named = {address for run in runs for address in run}
        sizes: dict[str, int] = {}
        for address in filter(named.__contains__, self.found):
            sizes[address], told = self.found[address].result()
            tell(f"input {address}: {told}")
        needs = max(sum(sizes.get(address, 0) for address in run) for run in runs)
        disk = min(part.machine.disk.size_gb for candidate in candidates for part in candidate.demand.parts)
        if needs > (disk - SYSTEM_GB) * _GB:
            raise ConfigError(
                "nothing was sent: the inputs do not fit the disk of each machine",
                why=f"they take {size(needs)}; of {disk} GB, {SYSTEM_GB} GB are left to the system and the image",
                fix=f"{-(-needs // _GB) + SYSTEM_GB} GB or more: Disk(size_gb=…) of the template, and sizeGb of its "
                "pool; or fewer files",
            )
