"""Requirements of jobs, and the packages that deploy."""

from tests.review.case import BUSY, Case, Edit, Named, hurts, silent, stops, tells
from tests.review.edits import LORA_REQUIREMENTS

RANGE = Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch>=2,<3")
DIGITS_REQUIREMENTS = "jobs/digits/requirements.txt"
PINS = "requirements.txt"
CONSTRAINTS = "jobs/lora/constraints.txt"
CUDA = "https://download.pytorch.org/whl/cu121"

WHEEL = "torch @ https://download.pytorch.org/whl/cu121/torch-2.4.1%2Bcu121-cp310-cp310-linux_x86_64.whl#sha256="


def asks(
    says: str, old: str, new: str, told: Named, file: str = LORA_REQUIREMENTS, given: tuple[Edit, ...] = ()
) -> Case:
    may, accident = ("code-changed", "requirements-changed"), "jobs that failed while they installed"
    return Case(says, (Edit(file, old, new),), (told,), may=may, given=given, accident=accident)


def pins(says: str, new: str, *words: str) -> Case:
    given = Edit(PINS, "", "pulumi-gcp==9.4.0\nurllib3==2.5.0\n")
    told, accident = (stops("pins-changed", "", *words),), "a deployment that its own packages broke"
    return Case(says, (Edit(PINS, "urllib3==2.5.0\n", new),), told, given=(given,), accident=accident)


REQUIREMENTS = "jobs/digits/requirements.txt"


def requires(says: str, accident: str, before: str, after: str, *words: str) -> Case:
    """Return a case in which one requirement of `digits` becomes another."""
    edit = Edit(REQUIREMENTS, before, after)
    given = () if before == "dask==2025.1.0" else (Edit(REQUIREMENTS, "dask==2025.1.0", before),)
    return Case(
        says, (edit,), (hurts("requirements-changed", "digits", before, after, *words),), given=given, accident=accident
    )


PINNED = Edit("requirements.txt", "", "pulumi==3.215.0\npulumi-gcp==10.2.0\n")
COMMIT = "0123456789abcdef0123456789abcdef01234567"

CASES = (
    Case(
        "A newer torch, over checkpoints of the old one",
        (Edit(LORA_REQUIREMENTS, "torch==2.4.1", "torch==2.5.1"),),
        (hurts("requirements-changed", "lora", "instead of `torch==2.4.1`"),),
        may=("requirements-changed",),
        accident="checkpoints that a newer PyTorch refused to load",
    ),
    Case(
        "Another version of the framework, and of what packages bring that it installs",
        (
            Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.5.0"),
            Edit(CONSTRAINTS, "numpy==1.26.4\nscipy==1.14.1\n", "numpy==2.1.0\n"),
        ),
        (
            hurts(
                "requirements-changed",
                "lora",
                "torch==2.4.1",
                "torch==2.5.0",
            ),
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
        "A version is not pinned any more",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", "peft"),),
        (hurts("requirements-changed", "lora", "peft"),),
        may=("code-changed",),
        accident="a dependency that was published anew",
    ),
    Case(
        "A package with a name that is nearly another's",
        (Edit("jobs/digits/requirements.txt", "dask==2025.1.0\n", "dask==2025.1.0\ndaskk==0.0.1\n"),),
        (hurts("requirements-changed", "digits", "daskk"),),
        may=("code-changed",),
        accident="a typosquatted package",
    ),
    Case(
        "All requirements go",
        (Edit("jobs/digits/requirements.txt"),),
        (stops("requirements-changed", "digits", "dask"),),
        may=("code-changed",),
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
    Case(
        "A framework is older than before, and another package is new",
        (Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.3.0\nnumpy==2.0"),),
        (hurts("requirements-changed", "lora", "require `numpy==2.0` too"),),
        accident="a downgraded package that could not read what the newer one wrote",
    ),
    Case(
        "A package from a branch: what a restart installs",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", "peft @ git+https://github.com/huggingface/peft@main"),),
        (hurts("requirements-changed", "lora"),),
        world=BUSY,
        accident="a branch that broke on a day without any edit",
    ),
    Case(
        "A newer framework than the image has",
        (Edit(LORA_REQUIREMENTS, "torch==2.4.1", "torch==2.6.0"),),
        (hurts("requirements-changed", "lora", "`torch==2.6.0` instead of `torch==2.4.1`"),),
    ),
    asks(
        "A new major version, beside a package that was made for the old one",
        "transformers==4.46.0",
        "transformers==5.0.0",
        hurts("requirements-changed", "lora", "transformers==5.0.0"),
        given=(Edit(LORA_REQUIREMENTS, "peft==0.13.0\n", "peft==0.13.0\ntransformers==4.46.0\n"),),
    ),
    asks(
        "dask ahead of distributed, which wants the same version",
        "dask==2025.1.0\n",
        "dask==2025.3.0\n",
        hurts("requirements-changed", "digits", "`dask==2025.3.0` instead of `dask==2025.1.0`"),
        file=DIGITS_REQUIREMENTS,
        given=(Edit(DIGITS_REQUIREMENTS, "dask==2025.1.0\n", "dask==2025.1.0\ndistributed==2025.1.0\n"),),
    ),
    asks(
        "A build that PyPI can't have",
        "torch==2.4.1",
        "torch==2.4.1+cu121",
        stops("requirements-changed", "lora"),
    ),
    asks(
        "A line that is for pip alone",
        "peft==0.13.0",
        "peft==0.13.0 --no-deps",
        stops("requirements-changed", "lora"),
    ),
    Case(
        "An address, extras, an unfinished version and a condition",
        (
            Edit(
                LORA_REQUIREMENTS,
                "torch==2.4.1\npeft==0.13.0\nsafetensors==0.4.5\naccelerate==1.0.0\n",
                "torch==2.5.0rc1\npeft @ https://x.example/peft.whl\nsafetensors[all]==0.4.5\n"
                'accelerate==1.0.0; python_version < "3.10"\n',
            ),
        ),
        (
            hurts("requirements-changed", "lora"),
            hurts("requirements-changed", "lora", "2.5.0rc1", "safetensors[all]", "python_version"),
        ),
        given=(Edit(LORA_REQUIREMENTS, "peft==0.13.0\n", "peft==0.13.0\nsafetensors==0.4.5\naccelerate==1.0.0\n"),),
        accident="jobs that failed while they installed",
    ),
    asks(
        "Packages come from another index as well",
        "torch==2.4.1\n",
        "--extra-index-url https://us-python.pkg.dev/acme-ml/wheels/simple/\ntorch==2.4.1\n",
        stops(
            "requirements-changed",
            "lora",
            "take packages from `https://us-python.pkg.dev/acme-ml/wheels/simple` too",
        ),
    ),
    asks("The image has it too", "torch==2.4.1\n", "", stops("requirements-changed", "lora", "unless the image")),
    asks(
        "A package that is built for an hour",
        "peft==0.13.0\n",
        "peft==0.13.0\nflash-attn==2.6.3\n",
        hurts("requirements-changed", "lora", "`flash-attn==2.6.3` too"),
    ),
    asks(
        "Gigabytes for GPUs on machines without, and a package of the image's own",
        "dask==2025.1.0\n",
        "dask==2025.1.0\ntorch==2.4.1\nnumpy==2.1.0\n",
        hurts("requirements-changed", "digits", "`torch==2.4.1`", "`numpy==2.1.0`"),
        file=DIGITS_REQUIREMENTS,
    ),
    pins("A package that deploys goes", "", "2.5.0 → none"),
    pins("A package that deploys is not pinned", "urllib3>=2\n"),
    pins("A package that deploys is older", "urllib3==1.26.0\n", "→ 1.26.0"),
    pins("A package that deploys is new", "urllib3==2.5.0\nreqeusts==1.0\n", "with all that the deployment may do"),
    Case(
        "All packages are held to their hashes from now on",
        (
            Edit(LORA_REQUIREMENTS, "torch==2.4.1", f"torch==2.4.1 --hash=sha256:{'a' * 64}"),
            Edit(LORA_REQUIREMENTS, "peft==0.13.0", f"peft==0.13.0 --hash=sha256:{'b' * 64}"),
        ),
        (tells("requirements-changed", "lora requirements", "--hash=sha256"),),
    ),
    Case(
        "A package of the same version has another hash",
        (Edit(LORA_REQUIREMENTS, "a" * 64, "c" * 64),),
        (hurts("requirements-changed", "lora requirements", "--hash=sha256:ccc"),),
        given=(
            Edit(LORA_REQUIREMENTS, "torch==2.4.1", f"torch==2.4.1 --hash=sha256:{'a' * 64}"),
            Edit(LORA_REQUIREMENTS, "peft==0.13.0", f"peft==0.13.0 --hash=sha256:{'b' * 64}"),
        ),
        accident="a release whose file was put in place of another one's",
    ),
    Case(
        "A package gets another name by a typing error, which strangers may have taken",
        (Edit(LORA_REQUIREMENTS, "peft==0.13.0", "pefft==0.13.0"),),
        (
            stops("requirements-changed", "lora", "don't install `peft==0.13.0`"),
            hurts("requirements-changed", "lora", "require `pefft==0.13.0` too"),
        ),
        accident="a package of a name that looks like a known one",
    ),
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
        "An index of packages is not asked any more",
        (Edit(LORA_REQUIREMENTS, f"--extra-index-url {CUDA}\n", ""),),
        (stops("requirements-changed", "lora", "what only the others have is not found"),),
        given=(Edit(LORA_REQUIREMENTS, "torch==2.4.1", f"--extra-index-url {CUDA}\ntorch==2.4.1"),),
        never=("whoever publishes there",),
        accident="a package of a private name that a stranger had published",
    ),
    Case(
        "A pinned package may be of any patch release from now on",
        (Edit(LORA_REQUIREMENTS, "peft==0.13.0", "peft==0.13.*"),),
        (hurts("requirements-changed", "lora"),),
        accident="a release that broke all jobs on a day without any edit",
    ),
    silent(
        "The name of a required package is spelt in another way",
        Edit(LORA_REQUIREMENTS, "torch==2.4.1", "Torch == 2.4.1"),
        accident="a bot that took a package's other spelling for another package",
    ),
    silent(
        "The bounds of a requirement stand in another order",
        Edit(LORA_REQUIREMENTS, "torch>=2,<3", "torch <3, >=2"),
        given=(RANGE,),
    ),
    Case(
        "A wheel at a long address has another hash",
        (Edit(LORA_REQUIREMENTS, "5e" * 32, "5e" * 30 + "6f6f"),),
        (hurts("requirements-changed", "lora", "require `torch …5e5e", "5e6f6f` instead of `torch …5e5e", "5e5e`:"),),
        given=(Edit(LORA_REQUIREMENTS, "torch==2.4.1", WHEEL + "5e" * 32),),
        accident="a wheel that was published anew",
    ),
    requires(
        "A requirement gets a condition",
        "a wheel for another Python",
        "dask==2025.1.0",
        'dask==2025.1.0 ; python_version < "3.11"',
        "results may differ",
    ),
    requires(
        "A requirement gets an extra",
        "an extra that pulled in another framework",
        "dask==2025.1.0",
        "dask[distributed]==2025.1.0",
        "results may differ",
    ),
    requires(
        "A release candidate is required",
        "a pre-release that was withdrawn",
        "dask==2025.1.0",
        "dask==2025.2.0rc1",
        "results may differ",
    ),
    requires(
        "A large step of a package",
        "a major version that dropped a function",
        "attrs==2.1",
        "attrs==4.1",
        "results may differ",
    ),
    requires(
        "An older version of what saves",
        "checkpoints that an older version could not load",
        "torch==2.4.1",
        "torch==2.3.0",
    ),
    requires(
        "A later version at least",
        "a lower bound that a resolver took literally",
        "dask>=2025.1",
        "dask>=2025.2",
        "results may differ",
    ),
    Case(
        "A package comes from a branch that anybody may push to",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", "peft @ git+https://github.com/acme/peft@main"),),
        (
            hurts(
                "requirements-changed",
                "lora",
            ),
        ),
        accident="a dependency's branch that somebody else had pushed to",
    ),
    Case(
        "A package comes from a commit",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", f"peft @ git+https://github.com/acme/peft@{COMMIT}"),),
        (hurts("requirements-changed", "lora"),),
        never=("pushed last",),
    ),
    Case(
        "The engine's provider gets a new major version",
        (Edit("requirements.txt", "pulumi-gcp==10.2.0", "pulumi-gcp==11.0.0"),),
        (stops("pins-changed", "program", "10.2.0 → 11.0.0", "preview each stack with them first"),),
        given=(PINNED,),
        accident="a provider that replaced what its older version had made",
    ),
)
