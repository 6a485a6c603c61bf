"""Which catalog: by flag, by environment, or the one remembered in this checkout; and reading it from its bucket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slipway.catalog.document import read
from slipway.catalog.model import NAME, Catalog
from slipway.cloud.failures import NotFound
from slipway.cloud.storage import Location, Storage
from slipway.errors import Arguments, ConfigError
from slipway.files import write_atomically

VARIABLE = "SLIPWAY_CATALOG"
FILE = Path(".slipway", "catalog")
_ROOTS = (".slipway", ".git", "Pulumi.yaml")


@dataclass(frozen=True)
class SelectedCatalog:
    """`origin` says who chose: its address, when that was `given`, `$SLIPWAY_CATALOG` or the file of the checkout."""

    location: Location
    origin: str
    given: bool = False


def default_buckets(project: str, stack: str) -> tuple[str, str]:
    """Names of the catalog's and the work bucket, where a stack file names none. A domain's projects have a colon that
    buckets can't have."""
    base = project.split(":")[-1]
    return f"{base}-{stack}-catalog", f"{base}-{stack}-work"


def checkout(start: Path) -> Path | None:
    """The nearest folder upwards that looks like a checkout, or that has remembered something before."""
    return next((folder for folder in (start, *start.parents) if any((folder / one).exists() for one in _ROOTS)), None)


def address(text: str) -> Location:
    """`gs://bucket` or `gs://bucket/catalog.json`. Raises ConfigError."""
    location = Location.parse(text.strip())
    name = location.name.strip("/")
    return Location(location.bucket, name or NAME)


def select_catalog(flag: str | None, environ: Mapping[str, str], folder: Path) -> SelectedCatalog:
    """The first of flag, environment and memory. Raises ConfigError when nobody has chosen."""
    if flag:
        return SelectedCatalog(address(flag), "its address", given=True)
    if environ.get(VARIABLE, "").strip():
        return SelectedCatalog(address(environ[VARIABLE]), f"${VARIABLE}")
    remembered = recall(folder)
    if remembered:
        return remembered
    where = "checkout" if checkout(folder) else "folder"
    raise ConfigError(
        "no catalog chosen",
        why=f"none is named, ${VARIABLE} is not set, and this {where} remembers none",
        fix="slipway use gs://PROJECT-STACK-catalog     (pulumi up shows the address)",
    )


def recall(folder: Path) -> SelectedCatalog | None:
    """What this checkout remembers, if anything."""
    root = checkout(folder)
    file = root / FILE if root else None
    if file is None or not file.is_file():
        return None
    try:
        return SelectedCatalog(address(file.read_text(encoding="utf-8")), str(file))
    except (OSError, UnicodeDecodeError, ConfigError) as problem:
        raise ConfigError(
            f"what was remembered can't be read: {file}",
            why=problem.what if isinstance(problem, ConfigError) else str(problem),
            fix="choose again: slipway use gs://BUCKET",
        ) from problem


def remember(location: Location, folder: Path) -> Path:
    """Writes the choice into the checkout (or `folder` when it is in none) and gives the file. Raises ConfigError."""
    file = (checkout(folder) or folder) / FILE
    try:
        write_atomically(file, f"{location}\n")
    except OSError as problem:
        raise ConfigError(
            f"could not remember {location}",
            why=f"{file}: {problem.strerror or problem}",
            fix=f"make the folder writable, or choose it for this shell: export {VARIABLE}={location}",
        ) from problem
    return file


def fetch(storage: Storage, choice: SelectedCatalog) -> Catalog:
    """The catalog that was chosen. Raises ConfigError when it is missing or unreadable, CloudError otherwise."""
    location = choice.location
    try:
        content = storage.read(location, doing=f"read the catalog {location}")
    except NotFound as problem:
        another: str | Arguments = {"catalog": "gs://BUCKET"} if choice.given else "slipway use gs://BUCKET"
        raise ConfigError(
            f"no catalog at {location}",
            why=f"{problem.message} (chosen by {choice.origin})",
            # Where it was given, another that is only remembered would not be looked at.
            fix=("deploy the stack (pulumi up), or choose another catalog: ", another),
        ) from problem
    return read(content, str(location))
