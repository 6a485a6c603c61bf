"""Rules of one reservation: its path, zone, machine and size."""

from __future__ import annotations

from slipway.rules.reservations import SHARING, zone
from slipway.stack.part import Part
from slipway.stack.pool_rules import check_machine
from slipway.stack.secrets import shown


def check_reservation(reservation: Part, region: str | None) -> None:
    path = reservation["path"].of(str)
    if path is not None:
        found = zone(path)
        if found is None:
            reservation["path"].wrong(
                f"is no reservation's full path: {shown(path)}",
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
