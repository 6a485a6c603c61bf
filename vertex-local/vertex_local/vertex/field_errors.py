"""Field errors in the service's wording, shared by all rules: labels, display names, disks, images and keys."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..supply import machines
from ..training_settings import TrainingSettings
from ..wire import ApiError, invalid_argument

LABEL_LENGTH = 64
MOST_LABELS = 64
DISPLAY_NAME_LENGTH = 128
_KMS_KEY = re.compile(r"projects/[^/]+/locations/([^/]+)/keyRings/[^/]+/cryptoKeys/[^/]+")
_DIRECTORY = re.compile(r"gs://[^/]+(/.*)?", re.DOTALL)
_WORD = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?{_WORD}(?:/{_WORD})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?"
    r"(?:@[a-z0-9]+:[0-9a-f]{32,})?"
)
_LETTERS = ("Ll", "Lo", "Lm")
_CHARACTERS = 'lowercase letters, digits, "_" and "-"'


@dataclass(frozen=True)
class Mistake:
    """A field's path, as in `persistent_resource.resource_pools[0].id`, and its error."""

    field: str
    message: str


def field_errors(mistakes: Sequence[Mistake]) -> ApiError:
    """Return a 400 INVALID_ARGUMENT: `List of found errors: 1.Field: …; Message: …`, with a BadRequest detail."""
    listed = "\t".join(f"{n}.Field: {item.field}; Message: {item.message}" for n, item in enumerate(mistakes, 1))
    violations = [{"field": item.field, "description": item.message} for item in mistakes]
    detail = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}
    return invalid_argument(f"List of found errors:\t{listed}\t", [detail])


def refuse(mistakes: Sequence[Mistake]) -> None:
    """Raise a 400 with all errors, if there are any."""
    if mistakes:
        raise field_errors(mistakes)


def display_name_mistakes(field: str, name: str, *, required: bool = False) -> list[Mistake]:
    if required and not name:
        return [Mistake(field, "Display name is required.")]
    if len(name) > DISPLAY_NAME_LENGTH:
        return [Mistake(field, f"Display name is longer than {DISPLAY_NAME_LENGTH} characters.")]
    return []


def label_mistakes(field: str, labels: Mapping[str, str]) -> list[Mistake]:
    """Return the errors in keys and values: at most 64 lowercase letters (of any script), digits, `_` and `-`."""
    mistakes = []
    if len(labels) > MOST_LABELS:
        mistakes.append(Mistake(field, f"At most {MOST_LABELS} labels are supported."))
    for key, value in labels.items():
        if not key or not _plain(key):
            mistakes.append(
                Mistake(field, f'Label key "{key}" must be 1 to 64 lowercase letters, digits, "_" and "-".')
            )
        elif unicodedata.category(key[0]) not in _LETTERS:
            mistakes.append(
                Mistake(field, f'Label key "{key}" must start with a lowercase or an international letter.')
            )
        if not _plain(value):
            mistakes.append(Mistake(f"{field}.{key}", f'Label value "{value}" may have 64 characters: {_CHARACTERS}.'))
    return mistakes


def disk_mistakes(path: str, disk: Mapping[str, Any]) -> Iterator[Mistake]:
    kind, size = disk.get("bootDiskType"), disk.get("bootDiskSizeGb")
    if kind and kind not in machines.DISK_TYPES:
        known = ", ".join(machines.DISK_TYPES)
        yield Mistake(f"{path}.boot_disk_type", f'Boot disk type "{kind}" is not supported; supported: {known}.')
    low, high = machines.DISK_GB
    if size is not None and not low <= size <= high:
        yield Mistake(f"{path}.boot_disk_size_gb", f"Boot disk size {size} GB must be between {low} and {high} GB.")


def machine_disk_mistakes(
    root: str, pools: Sequence[Mapping[str, Any]], settings: TrainingSettings
) -> Iterator[Mistake]:
    """Yield the errors of pools whose machine takes no such boot disk in Compute Engine. The words are ours."""
    if settings.machine_disk == "accept":
        return
    for at, pool in enumerate(pools):
        machine, kind = pool.get("machineSpec", {}).get("machineType", ""), pool.get("diskSpec", {}).get("bootDiskType")
        if kind in machines.DISK_TYPES and kind not in (fitting := machines.disk_types(machine)):
            text = f"Boot disk type {kind} is not supported on machine type {machine}; supported: {', '.join(fitting)}."
            yield Mistake(f"{root}[{at}].disk_spec.boot_disk_type", text)


def image_mistakes(path: str, image: str) -> Iterator[Mistake]:
    """Yield the error in the name of a container image that must be there."""
    if not image:
        yield Mistake(path, "Image URI is required.")
    elif not _IMAGE.fullmatch(image):
        yield Mistake(path, f'"{image}" is not the name of a container image: HOST/PATH:TAG, without a scheme.')


def directory_mistakes(path: str, uri: str) -> Iterator[Mistake]:
    """Yield the error in a directory in Cloud Storage."""
    if not _DIRECTORY.fullmatch(uri):
        yield Mistake(path, f'"{uri}" must be a Cloud Storage URI: gs://bucket/directory.')


def key_mistakes(root: str, body: Mapping[str, Any], region: str) -> Iterator[Mistake]:
    """Yield the errors in the key of a canonical message at a path ("" for that of the request)."""
    if "encryptionSpec" not in body:
        return
    path = f"{root}.encryption_spec.kms_key_name".lstrip(".")
    key = body["encryptionSpec"].get("kmsKeyName", "")
    match = _KMS_KEY.fullmatch(key)
    if not match:
        yield Mistake(path, f'"{key}" is not the name of a key.')
    elif match[1] != region:
        yield Mistake(path, f"The key is in {match[1]}; it must be in the same region as the resource, {region}.")


def _plain(text: str) -> bool:
    # International characters are allowed: letters without an upper case are neither Ll nor Lu but Lo or Lm.
    return len(text) <= LABEL_LENGTH and all(
        character in "_-" or unicodedata.category(character) in (*_LETTERS, "Mn", "Mc", "Nd") for character in text
    )
