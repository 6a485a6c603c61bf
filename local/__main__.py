"""`python -m local`: see `local.cli`."""

from . import COMMAND
from .cli import cli

if __name__ == "__main__":
    cli(prog_name=COMMAND)
