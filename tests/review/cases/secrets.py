"""Secrets: those that jobs read, lose or show."""

from tests.review.case import BUSY, Case, Edit, blocks, more, stack, template, warns
from tests.review.edits import ANEW, LABELS, PIPELINE, PRINTS, REFUSED, TASK, VARIANT, VERSION_TYPE
from tests.review.engine import updates

PINNED = "projects/acme-ml/secrets/hf-token/versions/1"
GITHUB_TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
RANDOM = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
HF_TOKEN = "hf_0123456789abcdefghijklmnop"
CONSTANT = '"inputs": {"parameters": {"password": {"runtimeValue": {"constant": "hunter2"}}}}'
PASSWORD = 'Parameter("db_pass", str, default="hunter2")'
ENV = 'env={"REGION": "us-central1"}'

CASES = (
    Case(
        "A password among the arguments",
        (template("evals", '"--suite=${suite}"', '"--suite=${suite}", "--db-password=hunter2hunter2"'),),
        (blocks("plain-secret", "evals"), warns("submission-changed", "evals")),
    ),
    Case(
        "Passwords that only their names or their places tell, in a label, a default, code and a shell's line",
        (
            stack(LABELS, f"{LABELS[:-2]}, token: hunter2hunter2 }}"),
            template("evals", '        Parameter("batch"', f'        {PASSWORD},\n        Parameter("batch"'),
            template("evals", '"--batch=${batch}"', '"--batch=${batch}", "--x=${db_pass}"'),
            template("evals", 'command=("judge",)', 'command=("bash", "-c", "curl -u ada:hunter2 $HOST/?a=b; judge")'),
            template("evals", ENV, 'env={"REGION": "us-central1", "TOKEN1": "hunter2"}'),
            Edit(TASK, PRINTS, f'{PRINTS}    headers = {{"Authorization": "Bearer hunter2hunter2"}}\n'),
        ),
        (
            blocks("plain-secret", "evals"),
            blocks("plain-secret", "jobs/lora/task.py"),
            warns("submission-changed", "evals"),
        ),
        may=("job-code-changed", *ANEW, "code-contract-broken"),
        hidden=("hunter2",),
    ),
    Case(
        "A secret is read under another name, and values that nobody has sent are refused",
        (
            template("lora", '"HF_TOKEN": "hf-token"', '"HUB_TOKEN": "hf-token"'),
            template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),
        ),
        (blocks("submission-changed", "lora"), warns("submission-rejected", "lora")),
    ),
    Case(
        "The secret's value in use is disabled",
        finds=(blocks("job-loses-resource", "hf-token", "tune-27b-x1"),),
        may=("resource-changed",),
        steps=updates(
            VERSION_TYPE, "hf-token-3", {"secret": "projects/acme-ml/secrets/hf-token", "enabled": True}, enabled=False
        ),
        world=BUSY,
    ),
    Case(
        "A secret is read at its newest version again, and by another template of the same account",
        (template("lora", f'"{PINNED}"', '"hf-token"'), more("tune", 'secrets={"HF_TOKEN": "hf-token"}')),
        (warns("submission-changed", "lora"), warns("submission-changed", "tune")),
        given=(template("lora", '"hf-token"', f'"{PINNED}"'),),
    ),
    Case(
        "A package is taken from a repository, with a token in its address",
        (
            Edit(
                "jobs/lora/requirements.txt",
                "peft==0.13.0",
                f"peft @ git+https://robot:{GITHUB_TOKEN}@github.com/acme/peft@main",
            ),
        ),
        (blocks("plain-secret", "lora"), blocks("dependency-changed", "lora")),
        may=("job-code-changed", "code-contract-broken"),
        hidden=(GITHUB_TOKEN,),
    ),
    Case(
        "A secret's value takes the place of its reference, under a name that does not tell it",
        (
            template("evals", '    secrets={"JUDGE": "judge-key"},\n', ""),
            template("evals", ENV, 'env={"REGION": "us-central1", "JUDGE": "jk-live-5b1d0c7e94fa"}'),
        ),
        (blocks("plain-secret", "evals"), blocks("submission-changed", "evals")),
        given=(template("evals", '"JUDGE_KEY"', '"JUDGE"'),),
        may=("job-code-changed",),
        hidden=("jk-live",),
    ),
    Case(
        "Names that are secrets themselves, of a variable, of a secret, of a label, of a choice, and of a file",
        (
            template("evals", ENV, f'env={{"REGION": "us-central1", "{HF_TOKEN}": "1"}}'),
            template("evals", '"JUDGE_KEY": "judge-key"', f'"JUDGE_KEY": "judge-key", "{HF_TOKEN}Q": "other"'),
            more("evals", f'labels={{"{HF_TOKEN}": "1"}}'),
            template("lora", 'choices=("9b", "27b")', f'choices=("9b", "27b", "{HF_TOKEN}")'),
            Edit(f"jobs/digits/{HF_TOKEN}.py", "", "x = 1\n"),
        ),
        (
            blocks("plain-secret", "lora"),
            warns("job-code-changed", "digits"),
            blocks("plain-secret", "templates/evals.py"),
            warns("submission-changed", "evals"),
        ),
        hidden=("hf_0",),
    ),
    Case(
        "A pipeline's task gets a key as a variable, one as an argument, and one as a constant",
        (
            Edit(
                "pipelines/train.json",
                '"command": ["echo"],',
                f'"command": ["echo", "--token={HF_TOKEN}"], "env": [{{"name": "API_TOKEN", "value": "{RANDOM}"}}],',
            ),
            Edit("pipelines/train.json", '"taskInfo": {"name": "a"}', f'"taskInfo": {{"name": "a"}}, {CONSTANT}'),
        ),
        (blocks("plain-secret", "train"),),
        given=PIPELINE,
        hidden=("hf_0", RANDOM, "hunter2"),
    ),
)
