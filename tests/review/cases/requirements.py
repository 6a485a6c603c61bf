"""Requirements of jobs, and the packages that deploy."""

from tests.review.case import BUSY, Case, Edit, Named, hurts, stops, tells
from tests.review.edits import LORA_REQUIREMENTS

RANGE = Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch>=2,<3")
PINS = "requirements.txt"
CONSTRAINTS = "jobs/lora/constraints.txt"
CUDA = "https://download.pytorch.org/whl/cu121"


def asks(
    says: str, old: str, new: str, told: Named, file: str = LORA_REQUIREMENTS, given: tuple[Edit, ...] = ()
) -> Case:
    may, accident = ("code-changed", "requirements-changed"), "jobs that failed while they installed"
    return Case(says, (Edit(file, old, new),), (told,), may=may, given=given, accident=accident)


def pins(says: str, new: str, *words: str) -> Case:
    given = Edit(PINS, "", "pulumi-gcp==9.4.0\nurllib3==2.5.0\n")
    told, accident = (stops("pins-changed", "", *words),), "a deployment that its own packages broke"
    return Case(says, (Edit(PINS, "urllib3==2.5.0\n", new),), told, given=(given,), accident=accident)


CASES = (
    Case(
        "Another version of the framework, and of what packages bring that it installs",
        (
            Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.5.0"),
            Edit(CONSTRAINTS, "numpy==1.26.4\nscipy==1.14.1\n", "numpy==2.1.0\n"),
        ),
        (
            hurts("requirements-changed", "lora", "torch==2.4.1", "torch==2.5.0"),
            hurts("requirements-changed", "lora", "`--constraint numpy==2.1.0`"),
        ),
        given=(
            Edit(LORA_REQUIREMENTS, "torch==2.4.1\n", "-c constraints.txt\ntorch==2.4.1\n"),
            Edit(CONSTRAINTS, "", "numpy==1.26.4\nscipy==1.14.1\n"),
        ),
        may=("code-changed",),
        world=BUSY,
        never=("can't install", "don't install"),
        accident="a minor version that changed the numbers",
    ),
    Case(
        "A framework is pinned within its range",
        (Edit("jobs/lora/requirements.txt", "torch>=2,<3", "torch==2.5.1"),),
        (tells("requirements-changed", "lora"),),
        # Each start now replaces the image's own, which the range allowed.
        ("requirements-changed",),
        accident="a framework that was published anew over a weekend",
        given=(RANGE,),
    ),
    asks("A build that PyPI can't have", "torch==2.4.1", "torch==2.4.1+cu121", stops("requirements-changed", "lora")),
    asks(
        "A line that is for pip alone", "peft==0.13.0", "peft==0.13.0 --no-deps", stops("requirements-changed", "lora")
    ),
    asks("The image has it too", "torch==2.4.1\n", "", stops("requirements-changed", "lora", "unless the image")),
    pins("A package that deploys goes", "", "2.5.0 → none"),
    pins("A package that deploys is new", "urllib3==2.5.0\nreqeusts==1.0\n", "with all that the deployment may do"),
    Case(
        "A CUDA build of a package comes with the index that has it",
        (Edit(LORA_REQUIREMENTS, "torch==2.4.1", f"--extra-index-url {CUDA}\ntorch==2.4.1+cu121"),),
        (
            stops("requirements-changed", "lora", "take packages from"),
            hurts("requirements-changed", "lora", "require `torch==2.4.1+cu121` instead of `torch==2.4.1`"),
        ),
        never=("PyPI has no version",),
        accident="a build that no index had",
    ),
    Case(
        "A pinned package may be of any patch release from now on",
        (Edit(LORA_REQUIREMENTS, "peft==0.13.0", "peft==0.13.*"),),
        (hurts("requirements-changed", "lora"),),
        accident="a release that broke all jobs on a day without any edit",
    ),
)
