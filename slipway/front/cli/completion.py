"""Print the completion script for a shell.

\b
  bash:  slipway completion bash >> ~/.bashrc
  zsh:   slipway completion zsh >> ~/.zshrc
  fish:  slipway completion fish > ~/.config/fish/completions/slipway.fish
"""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from slipway.front.cli.terminal import screen

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value

    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1")

    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"

        if [[ $type == 'dir' ]]; then
            COMPREPLY=()
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            COMPREPLY=()
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
            [[ $value == *= ]] && compopt -o nospace
        fi
    done

    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class _Bash(BashComplete):
    """Completion for bash. For bash, and so for click, words end at `=` and `:` too: `-p trees=5` is four of them. The
    answer replaces the last such word."""

    source_template = _BASH
    _kept = ""
    """The part of the word that stays as it is typed."""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        # An added letter tells a word that has yet to begin from one that ends here, also within quotes.
        *words, last = split_arg_string(f"{line}x")
        incomplete = last[:-1]
        before = line.removesuffix(incomplete)
        if before != line and before[-1:].isspace():  # Within quotes bash ends no words.
            ends = [incomplete.rfind(mark) for mark in os.environ.get("COMP_WORDBREAKS", "")]
            self._kept = incomplete[: max(ends, default=-1) + 1]
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem) -> str:
        ends = (self._kept[start:] for start in range(len(self._kept)))
        typed = next((end for end in ends if item.value.startswith(end)), "")
        return f"{item.type},{item.value.removeprefix(typed)}"


class _Fish(FishComplete):
    """Completion in Slipway's order: click has the shell sort the suggestions."""

    source_template = FishComplete.source_template.replace("complete --no-files", "complete --keep-order --no-files")


add_completion_class(_Bash)
add_completion_class(_Fish)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    maker = get_completion_class(shell)
    assert maker is not None  # The choice above lists only shells that click knows.
    screen.out(maker(context.find_root().command, {}, "slipway", "_SLIPWAY_COMPLETE").source())
