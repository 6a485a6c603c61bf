"""docs/commands.md: every verb with its usage and flags, as the command itself has them. # D8

`python -m tests.docs.test_commands` writes it.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click

from slipway.base.formatting import join
from slipway.front.cli import Verbs, slipway
from slipway.front.cli.terminal.options import catalog_and_output

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
_GENERATED = re.compile(r"(?<=<!-- verbs -->\n).*(?=<!-- /verbs -->)", re.DOTALL)


def test_the_page_has_every_verb_and_flag() -> None:
    match = _GENERATED.search(PAGE.read_text("utf-8"))
    assert match and match[0] == made(), "python -m tests.docs.test_commands writes it"


@click.command()
@catalog_and_output
def _shared() -> None: ...


def verbs(context: click.Context | None = None) -> Iterator[click.Context]:
    """Every command below a group, in the order of `--help`; a group that does something by itself is one, too."""
    context = context or click.Context(slipway, info_name="slipway")
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name)
        if type(command) is not Verbs or command.invoke_without_command:
            yield inner
        if isinstance(command, click.Group):
            yield from verbs(inner)


def made() -> str:
    every = list(verbs())
    rows = [
        f"| [`{verb.command_path}`](#{verb.command_path.replace(' ', '-')}) | {_first(verb.command)} |"
        for verb in every
    ]
    return "\n".join(["| verb | |", "|---|---|", *rows, "", *(line for verb in every for line in _section(verb))])


def _first(command: click.Command) -> str:
    return _escaped((command.help or "").strip().partition("\n")[0])


def _section(context: click.Context) -> Iterator[str]:
    command = context.command
    yield f"## `{context.command_path}`\n"
    yield f"{_first(command)}\n"
    yield f"```\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```\n"
    yield from _rest(command)
    told = {(flag.opts[-1], flag.help) for flag in _options(_shared)}
    options = [flag for flag in _options(command) if (flag.opts[-1], flag.help) not in told]
    if options:
        yield "| flag | default | |\n|---|---|---|"
        for option in options:
            record = option.get_help_record(context)
            assert record is not None
            words = " ".join((option.help or "").split())
            yield f"| `{_escaped(record[0])}` | {_default(option)} | {_escaped(words)} |"
        yield ""
    if shared := [f"`{flag.opts[0]}`" for flag in _options(command) if flag not in options]:
        yield f"{'Also' if options else 'Takes'} {join(shared)}.\n"


def _rest(command: click.Command) -> Iterator[str]:
    """The help below its first line; what click shows as it stands is a block."""
    paragraphs = (command.help or "").strip().split("\n\n")[1:]
    for block, some in groupby(paragraphs, lambda item: item.lstrip().startswith("\b")):
        text = "\n\n".join(paragraph.replace("\b\n", "") for paragraph in some)
        yield f"```\n{text.rstrip()}\n```\n" if block else f"{text.strip()}\n"


def _options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option) and not param.hidden]


def _default(option: click.Option) -> str:
    shown = option.default if isinstance(option.default, str | int | float) and not option.is_flag else None
    return f"`{shown}`" if shown not in (None, "") else "–"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(_GENERATED.sub(lambda _: made(), PAGE.read_text("utf-8")), "utf-8")
