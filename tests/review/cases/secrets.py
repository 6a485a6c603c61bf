"""Secrets: those that jobs read, lose or show."""

from tests.review.case import BUSY, Case, Edit, hurts, more, stack, stops, tells, template
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
        (stops("plain-secret", "evals"), hurts("arguments-changed", "evals")),
        accident="a password on a command line",
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
            stops("plain-secret", "evals", "command"),
            stops("plain-secret", "evals", "TOKEN1"),
            stops("plain-secret", "evals", "db_pass"),
        ),
        may=("arguments-changed", *ANEW, "code-changed", "parameter-added"),
        never=("hunter2",),
        accident="a password that a comment repeated",
    ),
    Case(
        "A secret is read under another name, and values that nobody has sent are refused",
        (
            template("lora", '"HF_TOKEN": "hf-token"', '"HUB_TOKEN": "hf-token"'),
            template("lora", VARIANT, VARIANT.replace("variants=(\n", f"variants=(\n        {REFUSED},\n")),
        ),
        (
            stops("secrets-changed", "lora", "HF_TOKEN", "fails"),
            tells("secrets-changed", "lora"),
            hurts("bounds-narrowed", "lora", "precision=fp32", "refused when they are submitted"),
        ),
        accident="a token that code looked for under its old name",
    ),
    Case(
        "The secret's value in use is disabled",
        names=(stops("jobs-lose-secret", "hf-token", "tune-27b-x1"),),
        may=("resource-changed",),
        steps=updates(
            VERSION_TYPE, "hf-token-3", {"secret": "projects/acme-ml/secrets/hf-token", "enabled": True}, enabled=False
        ),
        world=BUSY,
        accident="a rotated key that was still in use",
    ),
    Case(
        "A secret is read at its newest version again, and by another template of the same account",
        (template("lora", f'"{PINNED}"', '"hf-token"'), more("tune", 'secrets={"HF_TOKEN": "hf-token"}')),
        (tells("secrets-changed", "lora"), tells("secrets-changed", "tune", "`hf-token`")),
        given=(template("lora", '"hf-token"', f'"{PINNED}"'),),
        never=("they fail once", "name `latest`", "whether it exists"),
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
        (stops("plain-secret", "lora", "jobs/lora/requirements.txt"), hurts("requirements-changed", "lora", "peft")),
        may=("code-changed",),
        never=(GITHUB_TOKEN,),
        accident="a token in a requirements file",
    ),
    Case(
        "A secret's value takes the place of its reference, under a name that does not tell it",
        (
            template("evals", '    secrets={"JUDGE": "judge-key"},\n', ""),
            template("evals", ENV, 'env={"REGION": "us-central1", "JUDGE": "jk-live-5b1d0c7e94fa"}'),
        ),
        (
            stops("plain-secret", "evals", "JUDGE", "revoke it now, merged or not", "under `secrets`"),
            stops("secrets-changed", "evals", "plain value as `JUDGE`", "once the secret is rotated"),
        ),
        given=(template("evals", '"JUDGE_KEY"', '"JUDGE"'),),
        may=("environment-changed",),
        never=(
            "jk-live",
            "what their code makes of it",
            "code that needs it fails",
            "the catalog and each request have it",
        ),
        accident="a key in a repository, since the secret could not be read",
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
            hurts("environment-changed", "evals", "`(hidden)` = `1`"),
            stops("secrets-changed", "evals", "secret `other` as `(hidden)`"),
            tells("request-changed", "evals", "label `(hidden)`"),
            stops("plain-secret", "lora parameter model", "the choices of `model`"),
            tells("bounds-widened", "case model=(hidden)", "(model=(hidden)) may be submitted"),
            hurts("code-changed", "digits", "`jobs/digits/(hidden).py`"),
        ),
        never=("hf_0",),
        accident="a key pasted where its name belongs",
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
        (
            stops("plain-secret", "train pipeline `exec-a command`", "let the task read it there"),
            stops("plain-secret", "train pipeline `exec-a env API_TOKEN`"),
            stops("plain-secret", "train pipeline `a password`"),
            hurts("request-changed", "train pipeline"),
        ),
        given=PIPELINE,
        never=("hf_0", RANDOM, "hunter2"),
        accident="a key in a compiled pipeline",
    ),
)
