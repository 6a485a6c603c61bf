"""Job code: packages, their files and edited lines."""

from tests.review.case import Case, Edit, Job, World, hurts, stops, tells, template
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
        (stops("start-fails", "digits", "for want of `common.data`", "still imports"),),
        given=USES_COMMON,
        never=("read its lines", "whether runs end"),
        accident="a helper deleted with the one job that was seen to use it",
    ),
    Case(
        "The checkpoint goes to the machine's own disk, beside a file that reads from a bucket",
        (Edit(TASK, 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])', 'OUTPUT = Path("/tmp")'),),
        (stops("code-changed", "lora", "no longer names the job's own output"),),
        given=(SAVES_CHECKPOINT, PLACE, SHARDS),
        never=("find no checkpoint", "outlives the machine"),
        accident="checkpoints on the disk of a Spot machine",
    ),
    Case(
        "The packages that a waiting job still has to install are deleted",
        names=(stops("jobs-lose-package", "lora", "waits-27b"),),
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
        (hurts("code-changed", "tune"),),
        may=("arguments-changed", "requirements-changed"),
    ),
    Case(
        "A folder of code has another name, and the same files",
        (*RENAMED, Edit("jobs/study/task.py", "", TUNE)),
        (tells("code-changed", "tune", "`jobs/study` instead of `jobs/tune`: its files are the same"),),
        may=("arguments-changed",),
        never=("no review compares", "can't be found"),
    ),
    Case(
        "Checkpoints are written no more, and the template says that there are some",
        (Edit("jobs/digits/task.py", "        os.replace(new, kept)\n", ""),),
        (hurts("code-changed", "digits", "no line saves a checkpoint", "begins anew"),),
        given=SAVING,
        accident="a night's work lost with a machine, for fewer writes",
    ),
    Case(
        "A template's code writes its results where nobody finds them",
        (Edit("jobs/digits/task.py", 'Path(os.environ["SLIPWAY_OUTPUT"])', 'Path("/tmp")'),),
        (hurts("code-changed", "digits", "no line names a place for results", "lost when they end"),),
        given=(*SAVING, template("digits", "    checkpoints=True,\n", "")),
        accident="a night's results on a disk that went with its machine",
    ),
    Case(
        "A file with tests beside the code",
        (Edit("jobs/lora/test_task.py", "", "def test_it() -> None:\n    assert True\n"),),
        (tells("code-changed", "lora", "no code that they run names it"),),
    ),
)
