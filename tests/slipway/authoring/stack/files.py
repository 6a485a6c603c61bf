"""Stack files for the tests: a good one, and ways to spoil it."""

from textwrap import dedent, indent

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import FileMistake, StackErrors, from_text

FILE = "stacks/Pulumi.prod.yaml"
HEAD = """\
config:
  gcp:project: acme-ml-prod
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
"""


def with_config(text: str, head: str = HEAD) -> str:
    return head + indent(dedent(text).strip("\n"), "  ") + "\n"


def with_pool(text: str) -> str:
    """Return a file with one cluster `cpu` and one pool `workers`; the pool's keys start on line 9."""
    return with_config(
        "slipway:persistentResources:\n  cpu:\n    pools:\n      workers:\n"
        + indent(dedent(text).strip("\n"), "        ")
    )


def read(text: str, file: str = FILE) -> Stack:
    return parse(from_text(text, file))


def wrong(text: str, file: str = FILE) -> tuple[FileMistake, ...]:
    try:
        read(text, file)
    except StackErrors as errors:
        return errors.mistakes
    return ()


def only(text: str) -> FileMistake:
    """Return the one finding of a file that has one."""
    mistakes = wrong(text)
    assert len(mistakes) == 1, mistakes
    return mistakes[0]
