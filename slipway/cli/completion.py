"""`slipway completion`: completion for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from slipway.cli import screen


@click.command("completion", short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script.

    \b
      bash:  slipway completion bash >> ~/.bashrc
      zsh:   slipway completion zsh >> ~/.zshrc
      fish:  slipway completion fish > ~/.config/fish/completions/slipway.fish
    """
    from slipway.cli.main import slipway

    maker = get_completion_class(shell)
    assert maker is not None  # The choice above lists only shells that click knows.
    screen.out(maker(slipway, {}, "slipway", "_SLIPWAY_COMPLETE").source())
