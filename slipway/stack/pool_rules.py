"""Rules of one pool (machine, accelerator, region, disk and sizes) and of one reservation (path, zone, machine and
size)."""

from __future__ import annotations

from slipway.formatting import nearest
from slipway.machines import Machine, MachineError, machine, region_has, regions_with
from slipway.rules.reservations import SHARING, reserved_only, zone
from slipway.stack.entries import DISK_TYPES, LARGEST_DISK, LARGEST_POOL, SMALLEST_DISK
from slipway.stack.part import DocumentPart
from slipway.stack.secrets import named, shown


def check_pool(pool: DocumentPart, region: str | None) -> None:
    shape = check_machine(pool)
    if shape is not None and reserved_only(shape.accelerator):
        pool["machine"].wrong(
            f"{shape.type} machines are given to reservations only, which no persistent resource takes",
            "another machine; a template gets these by the capacity type `reservation`",
        )
    if shape is not None and shape.accelerator is not None and region is not None:
        _region(pool, shape, region)
    _disk(pool["disk"], shape)
    _replicas(pool["replicas"])


def check_machine(pool: DocumentPart) -> Machine | None:
    """The machine of an entry with `machine` and `accelerator`, if it is one."""
    type_ = pool["machine"].of(str)
    if type_ is None:
        return None
    accelerator = pool["accelerator"]
    asked, count = accelerator["type"].of(str), accelerator["count"].of(int)
    if accelerator.value is not None and asked is None:
        asked = count = None  # The type check speaks about it.
    try:
        return machine(type_, asked, count)
    except MachineError as error:
        missing_count = error.field == "accelerator" and accelerator["count"].value is None
        if not missing_count:
            part = pool["machine"] if error.field == "machine" else accelerator
            part = part[error.field] if error.field in ("type", "count") else part
            part.wrong(error.what, error.fix)
    return None


def _region(pool: DocumentPart, shape: Machine, region: str) -> None:
    accelerator = str(shape.accelerator)
    if region_has(region, accelerator):
        return
    part = pool["accelerator"]["type"] if pool["accelerator"].value is not None else pool["machine"]
    elsewhere = regions_with(accelerator)
    part.wrong(
        f"{region} has no {accelerator} for training ({shape.type})",
        f"regions that have it: {', '.join(elsewhere)}" if elsewhere else "another accelerator",
    )


def _disk(disk: DocumentPart, shape: Machine | None) -> None:
    type_ = disk["type"].of(str)
    if type_ is not None and type_ not in DISK_TYPES:
        near = nearest(type_, DISK_TYPES)
        disk["type"].wrong(
            f"unknown disk type {named(type_)}",
            f"did you mean `{near}`?" if near else f"one of {', '.join(DISK_TYPES)}",
        )
    elif type_ is not None and shape is not None and type_ not in shape.disks:
        disk["type"].wrong(f"{shape.type} can't have {type_}", " or ".join(shape.disks))
    size = disk["sizeGb"].of(int)
    if size is not None and not SMALLEST_DISK <= size <= LARGEST_DISK:
        disk["sizeGb"].wrong(f"a disk can't have {size:,} GB", f"{SMALLEST_DISK} to {LARGEST_DISK:,}")


def _replicas(replicas: DocumentPart) -> None:
    fixed = replicas.of(int)
    if fixed is not None and fixed < 1:
        replicas.wrong(f"a pool can't have {fixed} machines", "1 or more; to have none, remove the pool")
    low, high, initial = (replicas[key].of(int) for key in ("min", "max", "initial"))
    for part, count in ((replicas, fixed), (replicas["max"], high)):
        if count is not None and count > LARGEST_POOL:
            part.wrong(f"a pool can't have {count:,} machines", f"1 to {LARGEST_POOL:,}")
    if low is not None and low < 1:
        replicas["min"].wrong(f"a pool can't shrink to {low} machines", "1 or more: the API keeps at least one")
    elif low is not None and high is not None and high <= low:
        replicas["max"].wrong(
            f"max {high} is not more than min {low}", f"max: {low + 1} or more, or `replicas: {low}` for a fixed pool"
        )
    if initial is not None and low is not None and high is not None and not low <= initial <= high and high > low:
        replicas["initial"].wrong(f"{initial} is not between min {low} and max {high}", f"{low} to {high}")


def check_reservation(reservation: DocumentPart, region: str | None) -> None:
    path = reservation["path"].of(str)
    if path is not None:
        found = zone(path)
        if found is None:
            reservation["path"].wrong(
                f"is not a reservation's full path: {shown(path)}",
                f"projects/PROJECT/zones/ZONE/reservations/NAME; {SHARING}",
            )
        elif region is not None and not found.startswith(f"{region}-"):
            reservation["path"].wrong(
                f"{found} is not in the stack's region {region}, so no job can use it", f"a reservation in {region}-…"
            )
    check_machine(reservation)
    machines = reservation["machines"].of(int)
    if machines is not None and machines < 1:
        reservation["machines"].wrong(f"a reservation can't hold {machines} machines", "1 or more, or leave it out")
