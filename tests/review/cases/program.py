"""The program itself, the files that deploy it, and previews that fail, are cut, or contain unknown parts."""

from slipway.deploying.engine.events import read
from slipway.deploying.engine.preview import Preview
from tests.review.case import BUSY, Case, Edit, hurts, silent, stack, stops, tells, template
from tests.review.cases.clusters import ANEW
from tests.review.engine import replaces
from tests.slipway.reviewing.recordings import lines

UP = ".github/workflows/up.yaml"
WORKFLOW = """jobs:
  prod:
    runs-on: ubuntu-24.04
    environment: prod
    steps:
      - run: make select STACK=prod
      - run: python -m slipway review --stack prod --merged
      - run: pulumi up --yes --stack prod
"""

CASES = (
    Case(
        "The guard that asks for unfinished jobs is deleted",
        (Edit("components/guard.py"),),
        (stops("program-edited", "program", "components/guard.py"),),
        world=BUSY,
        accident="a safety check removed as dead code",
    ),
    Case(
        "The guard is not registered any more, with one line less in the program",
        names=(stops("guard-removed", "guard", "unfinished jobs"), stops("program-edited", "program", "__main__.py")),
        files=("__main__.py",),
        preview=Preview(hooks=frozenset({"slipway-create-v1"})),
        accident="a hook that nobody called any more",
    ),
    Case(
        "What judges changes like this one is edited",
        names=(stops("program-edited", "program", "slipway/reviewing/people.py"),),
        files=("slipway/reviewing/people.py",),
        accident="a check rewritten by what it checks",
    ),
    Case(
        "A workflow loses its environment and its review, as the pull request had one",
        (
            Edit(UP, "      - run: python -m slipway review --stack prod --merged\n", ""),
            Edit(UP, "    environment: prod\n", ""),
        ),
        (stops("program-edited", "program", "up.yaml", "environment: prod", "slipway review"),),
        given=(Edit(UP, "", WORKFLOW),),
        accident="an approval removed from a workflow",
    ),
    Case(
        "The stack moves to another region",
        (stack("gcp:region: us-central1", "gcp:region: us-east4"),),
        (stops("preview-failed", "", "us-central1", "us-east4"),),
        world=BUSY,
        accident="a region moved, and everything in it deleted",
    ),
    Case(
        "The stack moves to another project",
        (stack("gcp:project: acme-ml\n", "gcp:project: acme-ml-two\n"),),
        (stops("preview-failed", ""),),
        world=BUSY,
        accident="a stack pointed at another project",
    ),
    Case(
        "A typing error in the stack file",
        (stack("retireWithin: 2w", "retireWithin: 2 weeks"),),
        (stops("preview-failed", "", "retireWithin"),),
        world=BUSY,
    ),
    Case(
        "A template that can't be read",
        (template("tune", "timeout_s=3600", "timeout_s=-1"),),
        (stops("preview-failed", "", "tune"),),
    ),
    Case(
        "Three templates that can't be loaded or packed, in the change that has a pool grow",
        (
            template("lora", "TEMPLATE = JobTemplate(", "TEMPLATE = JobTemplate(("),
            template("digits", "timeout_s=3600", "timeout=3600"),
            template("tune", '"tune.task"', '"tune.tasks"'),
            stack("replicas: { min: 4, max: 16 }", "replicas: { min: 4, max: 24 }"),
        ),
        (
            stops("preview-failed", "", "templates/lora.py can't be loaded: line 13", "`timeout_s`", "no module"),
            hurts("cluster-new-generation", "cpu", "`pools.workers.replicas.max` 16 → 24", "digits-night"),
        ),
        may=ANEW,
        world=BUSY,
        accident="a bracket lost in a merge, and a pull request that was read once more for all the rest",
    ),
    silent("A template that no stack lists can't be loaded", Edit("templates/draft.py", new="def\n")),
    Case(
        "A new template that can't be loaded, and the pool for it",
        (
            Edit("templates/judge.py", new="from slipway.template import JobTemplates\n"),
            stack("    - evals\n", "    - evals\n    - judge\n"),
            stack("        head: {", "        big: { machine: n1-highmem-8, replicas: 2 }\n        head: {"),
        ),
        (
            stops("preview-failed", "", "templates/judge.py can't be loaded", "JobTemplates"),
            tells("idle-cost", "stack", "$834 a month more"),
        ),
        may=ANEW,
    ),
    Case(
        "A component declares a service that has no API here: the preview fails as the deployment would",
        names=(stops("preview-failed", ""),),
        may=("account-created", "public-access"),
        preview=read(lines("refused")),
    ),
    Case(
        "An instance of a kind that nobody here knows is made anew",
        names=(stops("resource-replaced", "probe", "zone"),),
        steps=replaces("acme:lab/instrument:Instrument", "probe", {"zone": "a", "size": 4}, "lab/probe", zone="b"),
        accident="a provider's new version that replaced everything",
    ),
    Case(
        "The stack is named otherwise in the files: its own file goes",
        (Edit("stacks/Pulumi.dev.yaml"),),
        (stops("stack-gone", "stack dev"),),
        accident="a stack renamed, and the old one paid for months",
    ),
    Case(
        "A stream of events that is cut: what is missing is said, not guessed",
        names=(stops("program-edited", "program", "components/workspace.py"),),
        files=("components/workspace.py",),
        preview=read(lines("buckets")[:3]),
    ),
)
