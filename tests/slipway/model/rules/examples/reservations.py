"""Reservations. # Z6"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from slipway.model.cluster import Reservation

from ..bodies import (
    GB200,
    H100,
    HYPERDISK,
    KNOWN,
    POOL,
    RESERVATION,
    SPECIFIC,
    T4,
    custom,
    example,
    flex,
    gpu,
    reserved,
    worker,
)

NOW = datetime(2026, 11, 28, tzinfo=UTC)
ANY = {"reservationAffinityType": "ANY_RESERVATION"}

EXAMPLES = (
    example("reservation-affinity", reserved(key="name"), "needs key compute.googleapis.com", reserved()),
    example("reservation-affinity", reserved(values=[]), "the reservation's path in values", reserved()),
    example(
        "reservation-affinity",
        reserved(reservationAffinityType="ANY_RESERVATION"),
        "belong to SPECIFIC_RESERVATION",
        reserved(reservationAffinityType="ANY_RESERVATION", key=None, values=None),
    ),
    example(
        "reservation-affinity", reserved(reservationAffinityType="SOME"), "SOME: use SPECIFIC_RESERVATION", custom()
    ),
    example(
        "reservation-affinity",
        reserved(values=["h100"]),
        "'h100' is not a reservation's full path: projects/PROJECT/zones/ZONE/reservations/NAME; the reservation "
        "must be shared: gcloud … --reservation-sharing-policy=ALLOW_ALL",
        reserved(),
        reserved(values=[f"{RESERVATION}/reservationBlocks/b1/reservationSubBlocks/s2"]),
    ),
    example(
        "reservation-fits",
        reserved(values=["projects/p/zones/us-east4-a/reservations/r"]),
        "is in us-east4-a",
        reserved(),
    ),
    example(
        "reservation-fits",
        custom(worker(gpu("a3-highgpu-4g", reservationAffinity=SPECIFIC))),
        "holds a3-highgpu-8g, the job needs a3-highgpu-4g",
        reserved(),
        place={"reserved": KNOWN},
    ),
    example(
        "reservation-fits",
        custom(worker({**T4, "reservationAffinity": SPECIFIC})),
        "holds NVIDIA_TESLA_T4 × 2, the job needs NVIDIA_TESLA_T4 × 1",
        custom(worker({**T4, "acceleratorCount": 2, "reservationAffinity": SPECIFIC})),
        place={"reserved": {RESERVATION: Reservation(RESERVATION, "n1-standard-8", "NVIDIA_TESLA_T4", 2)}},
    ),
    *(
        example(
            "reservation-fits",
            custom(worker({**H100, "reservationAffinity": affinity})),
            words,
            capacity_type="reservation",
            place={"reserved": {RESERVATION: dated}, "now": NOW},
        )
        for affinity in (SPECIFIC, ANY)
        for dated, words in (
            (
                replace(KNOWN[RESERVATION], begins=NOW + timedelta(days=3)),
                "worker pool 0: h100 begins on 2026-12-01, in 3 days",
            ),
            (replace(KNOWN[RESERVATION], ends=NOW), "worker pool 0: h100 ended on 2026-11-28"),
        )
    ),
    example(
        "reservation-fits",
        custom(*(worker({**H100, "reservationAffinity": SPECIFIC}, count) for count in (1, 2))),
        "holds 2 machines, the job needs 3",
        custom(*(worker({**H100, "reservationAffinity": SPECIFIC}, count) for count in (1, 1))),
        place={"reserved": KNOWN},
    ),
    example(
        "reservation-fits",
        custom(*(worker({**H100, "reservationAffinity": ANY}, count) for count in (1, 2))),
        "worker pool 1: the stack declares no reservation of 3 a3-highgpu-8g",
        custom(*(worker({**H100, "reservationAffinity": ANY}, count) for count in (1, 1))),
        reserved(),
        capacity_type="reservation",
        place={"reserved": KNOWN},
    ),
    example(
        "reservation-alone",
        custom(worker({**H100, "reservationAffinity": SPECIFIC}), **POOL),
        "can't be combined with a persistent resource",
        reserved(),
        custom(worker({**H100, "reservationAffinity": {"reservationAffinityType": "NO_RESERVATION"}}), **POOL),
    ),
    example(
        "reservation-alone",
        flex(worker({**H100, "reservationAffinity": SPECIFIC})),
        "can't be combined with flex-start",
        flex(),
    ),
    example(
        "reserved-only",
        custom(worker(GB200, diskSpec=HYPERDISK)),
        "given to reservations only",
        custom(worker({**GB200, "reservationAffinity": SPECIFIC}, diskSpec=HYPERDISK)),
    ),
)
