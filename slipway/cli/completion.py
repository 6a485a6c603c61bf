"""Print the completion script for a shell.

\b
  bash:  slipway completion bash >> ~/.bashrc
  zsh:   slipway completion zsh >> ~/.zshrc
  fish:  slipway completion fish > ~/.config/fish/completions/slipway.fish
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from slipway.cli.terminal import screen


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    maker = get_completion_class(shell)
    assert maker is not None  # The choice above lists only shells that click knows.
    screen.out(maker(context.find_root().command, {}, "slipway", "_SLIPWAY_COMPLETE").source())
