"""Shapes of one job: machines that a submission takes where those before them have no capacity."""

from tests.review.case import Case, hurts, imports, more, tells, template

LARGER = 'Shape((WorkerPool("tuner", "a2-ultragpu-1g", Disk("pd-ssd", 200), args=ARGS),))'
SEVERAL = 'Shape((WorkerPool("tuner", "g2-standard-24", Disk("pd-ssd", 200), args=ARGS),), ("spot", "on-demand"))'
WITH_BOTH = (imports("lora", "Shape"), more("lora", f"shapes=({LARGER}, {SEVERAL})"))

CASES = (
    Case(
        "A template gets other machines for times without capacity",
        WITH_BOTH,
        (
            tells(
                "offer-added", "lora shape a2-ultragpu-1g", "where `a2-highgpu-1g` has no capacity", "$3.57/h on Spot"
            ),
            hurts("offer-added", "lora shape g2-standard-24", "40 GB on each GPU fails on 24 GB"),
        ),
    ),
    Case(
        "Other machines are no longer taken where the best are not to be had",
        (template("lora", f", {SEVERAL}", ","),),
        (hurts("offer-gone", "lora shape g2-standard-24", "can't run on `g2-standard-24` any more", "$2.53/h"),),
        given=WITH_BOTH,
    ),
    Case(
        "The machines of last resort come before better ones",
        (template("lora", f"{LARGER}, {SEVERAL}", f"{SEVERAL}, {LARGER}"),),
        (hurts("offer-order", "lora", "try Spot with `g2-standard-24` before Spot with `a2-ultragpu-1g`"),),
        given=WITH_BOTH,
    ),
    Case(
        "A template loses all its other machines",
        (template("lora", f"    shapes=({LARGER}, {SEVERAL}),\n", ""),),
        (
            hurts("offer-gone", "lora shape a2-ultragpu-1g", "where that has no capacity, they wait or fail"),
            hurts("offer-gone", "lora shape g2-standard-24"),
        ),
        given=WITH_BOTH,
    ),
)
