"""Job code: packages, their files and edited lines."""

from tests.review.case import Case, Edit, Job, World, blocks, template, warns
from tests.review.checkout import BASE
from tests.review.edits import PLACE, SAVES_CHECKPOINT, SAVING, TASK
from tests.review.engine import TEMPLATE
from tests.slipway.reviewing.builders import step

SHARED = ', shared=("jobs/common",))'
USES_COMMON = (
    template("digits", '"digits.task", IMAGE)', f'"digits.task", IMAGE{SHARED}'),
    Edit("jobs/digits/task.py", "# Every step", "from common import data\n\n# Every step"),
    Edit("jobs/common/__init__.py", "", ""),
    Edit("jobs/common/data.py", "", "SEED = 1\n"),
)
TUNE = (BASE / "jobs/tune/task.py").read_text("utf-8")
RENAMED = (
    template("tune", 'Package("jobs/tune", "tune.task"', 'Package("jobs/study", "study.task"'),
    Edit("jobs/tune/__init__.py"),
    Edit("jobs/tune/task.py"),
    Edit("jobs/study/__init__.py", "", ""),
)
OBJECT = "gcp:storage/bucketObject:BucketObject"
SHARDS = Edit("jobs/lora/__init__.py", "", 'SHARDS = "gs://acme-data/shards"\n')

CASES = (
    Case(
        "A module is deleted that the code of a job imports",
        (Edit("jobs/common/data.py"),),
        (blocks("code-contract-broken", "digits"),),
        may=("job-code-changed",),
        given=USES_COMMON,
    ),
    Case(
        "The checkpoint goes to the machine's own disk, beside a file that reads from a bucket",
        (Edit(TASK, 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])', 'OUTPUT = Path("/tmp")'),),
        (blocks("code-contract-broken", "lora"), warns("job-code-changed", "lora")),
        given=(SAVES_CHECKPOINT, PLACE, SHARDS),
    ),
    Case(
        "The packages that a waiting job still has to install are deleted",
        finds=(blocks("job-loses-resource", "lora", "waits-27b"),),
        may=("resource-deleted", "resource-changed"),
        steps=lambda catalog: [
            step(
                "delete",
                OBJECT,
                "lora-package",
                old={
                    "bucket": "acme-catalog",
                    "name": catalog.templates["lora"].package.removeprefix("gs://acme-catalog/"),
                },
                parent=TEMPLATE,
            )
        ],
        world=World(jobs=(Job("waits-27b", user="ben", parameters={"model": "27b"}, state="PENDING", hours=1),)),
    ),
    Case(
        "Another folder's code",
        (template("tune", 'Package("jobs/tune", "tune.task"', 'Package("jobs/digits", "digits.task"'),),
        (warns("job-code-changed", "tune"),),
        may=("job-code-changed", "dependency-changed"),
    ),
    Case(
        "A folder of code has another name, and the same files",
        (*RENAMED, Edit("jobs/study/task.py", "", TUNE)),
        (),
        may=("job-code-changed",),
    ),
    Case(
        "Checkpoints are written no more, and the template says that there are some",
        (Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", ""),),
        (blocks("code-contract-broken", "digits"), warns("job-code-changed", "digits")),
        given=SAVING,
    ),
    Case(
        "A template's code writes its results where nobody finds them",
        (Edit("jobs/digits/task.py", 'Path(os.environ["SLIPWAY_OUTPUT"])', 'Path("/tmp")'),),
        (blocks("code-contract-broken | job-code-changed", "digits"),),
        given=(*SAVING, template("digits", "    checkpoints=True,\n", "")),
    ),
    Case(
        "A file with tests beside the code",
        (Edit("jobs/lora/test_task.py", "", "def test_it() -> None:\n    assert True\n"),),
        (),
    ),
)
