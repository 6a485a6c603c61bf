"""Requirements of jobs, and the packages that deploy."""

from tests.review.case import BUSY, Case, Edit, Expected, blocks, notes, warns
from tests.review.edits import LORA_REQUIREMENTS

RANGE = Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch>=2,<3")
PINS = "requirements.txt"
CONSTRAINTS = "jobs/lora/constraints.txt"
CUDA = "https://download.pytorch.org/whl/cu121"


def asks(
    says: str, old: str, new: str, told: Expected, file: str = LORA_REQUIREMENTS, given: tuple[Edit, ...] = ()
) -> Case:
    may = ("job-code-changed", "dependency-changed", "code-contract-broken")
    return Case(says, (Edit(file, old, new),), (told,), may=may, given=given)


def pins(says: str, new: str, *numbers: str) -> Case:
    given = Edit(PINS, "", "pulumi-gcp==9.4.0\nurllib3==2.5.0\n")
    told = (blocks("dependency-changed", "", *numbers),)
    return Case(says, (Edit(PINS, "urllib3==2.5.0\n", new),), told, given=(given,))


CASES = (
    Case(
        "Another version of the framework, and of what packages bring that it installs",
        (
            Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.5.0"),
            Edit(CONSTRAINTS, "numpy==1.26.4\nscipy==1.14.1\n", "numpy==2.1.0\n"),
        ),
        (warns("job-code-changed | dependency-changed", "lora"),),
        given=(
            Edit(LORA_REQUIREMENTS, "torch==2.4.1\n", "-c constraints.txt\ntorch==2.4.1\n"),
            Edit(CONSTRAINTS, "", "numpy==1.26.4\nscipy==1.14.1\n"),
        ),
        may=("job-code-changed", "code-contract-broken"),
        world=BUSY,
    ),
    Case(
        "A framework is pinned within its range",
        (Edit("jobs/lora/requirements.txt", "torch>=2,<3", "torch==2.5.1"),),
        finds=(notes("job-code-changed | dependency-changed", "lora"),),
        may=("job-code-changed", "dependency-changed"),
        given=(RANGE,),
    ),
    asks(
        "A build that PyPI can't have",
        "torch==2.4.1",
        "torch==2.4.1+cu121",
        warns("job-code-changed | dependency-changed | code-contract-broken", "lora"),
    ),
    asks(
        "A line that is for pip alone",
        "peft==0.13.0",
        "peft==0.13.0 --no-deps",
        warns("job-code-changed | dependency-changed | code-contract-broken", "lora"),
    ),
    asks(
        "The image has it too",
        "torch==2.4.1\n",
        "",
        warns("job-code-changed | dependency-changed | code-contract-broken", "lora"),
    ),
    pins("A package that deploys goes", "", "2.5.0"),
    pins("A package that deploys is new", "urllib3==2.5.0\nreqeusts==1.0\n", "1.0"),
    Case(
        "A CUDA build of a package comes with the index that has it",
        (Edit(LORA_REQUIREMENTS, "torch==2.4.1", f"--extra-index-url {CUDA}\ntorch==2.4.1+cu121"),),
        (blocks("job-code-changed | dependency-changed", "lora"),),
    ),
    Case(
        "A pinned package may be of any patch release from now on",
        (Edit(LORA_REQUIREMENTS, "peft==0.13.0", "peft==0.13.*"),),
        (blocks("dependency-changed", "lora"),),
    ),
)
