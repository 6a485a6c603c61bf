"""The command `slipway`: the path of a file is the verb, and what a person sees when something goes wrong."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from slipway.base import installation
from slipway.base.errors import ConfigError, Interrupted, SlipwayError
from slipway.base.formatting import join, nearest, quoted, unfit
from slipway.base.standard_output import READER_ENDED, OutputError, finish_output, open_stdout, output_error
from slipway.front.cli.terminal.flags import as_flags
from slipway.front.cli.terminal.screen import begin_output, note, out_error, prepare_streams, request_json, styled

INTERRUPTED = Interrupted.exit_code
NOTHING_SENT = "interrupted; nothing was sent"
_JSON_PAIRS = (("--output", "json"), ("-o", "json"))

_HELPERS = "terminal"
_OFFLINE = ("completion", "explain", "init")
"""The verbs that ask nothing of a cloud."""


class Verbs(click.Group):
    """Commands by their paths: `jobs/show.py` is `slipway jobs show`.

    Each module of the package is a verb: its click command is called `command`, its docstring is the help, and the
    first line of that the line in the list. A package in it is a group of verbs; a group with an action of its own has
    a `command` as well. None is imported before it is called.
    """

    def __init__(self, *arguments: Any, package: str, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._files())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._files():
            return None
        if cmd_name not in _OFFLINE:
            # Early: deep in a verb's imports CPython 3.11 maps memory anew at each call by which urllib3 compiles.
            import urllib3  # noqa: F401

        module = importlib.import_module(f"{self._package}.{cmd_name.replace('-', '_')}")
        command = getattr(module, "command", None)
        if command is None and hasattr(module, "__path__"):
            command = Verbs(package=module.__name__)
        assert isinstance(command, click.Command), f"{module.__name__} has no command"
        command.name, command.help = cmd_name, module.__doc__
        return command

    def invoke(self, ctx: click.Context) -> Any:
        if self.invoke_without_command:  # Flags before the verb are the verb's, unless it has some.
            ctx.default_map = dict.fromkeys(self._files(), ctx.params)
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            verb = ctx.invoked_subcommand
            if error.ctx is None and verb and (command := self.get_command(ctx, verb)):
                error.ctx = click.Context(command, parent=ctx, info_name=verb)  # click's parser does not tell it.
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self._files()
        if name not in known and not name.startswith("-"):
            from slipway.front.cli.terminal.peers import verbs_meant  # Needed only after a mistake.

            groups = self._verbs_of_groups()
            near = [group for group, verbs in groups.items() if name in verbs]
            likely = [f"{group} {name}" for group in near] or list(filter(None, [nearest(name, known)]))
            meant = verbs_meant(name, ctx.command_path, known, groups)
            if fix := join(meant or [f"{ctx.command_path} {verb}" for verb in likely], "or"):
                raise ConfigError(f"unknown command {quoted(name)}", fix=fix)
            if "show" in known:
                fix = f"{ctx.command_path} show {shlex.quote(name)}, if that is a name; else {ctx.command_path} --help"
                raise ConfigError(f"unknown command {quoted(name)}", fix=fix)
            raise click.UsageError(f"unknown command {quoted(name)}.", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            sources = [(name, file.read_text(encoding="utf-8")) for name, file in sorted(self._files().items())]
            formatter.write_dl([(name, source.partition("\n")[0].strip('"')) for name, source in sources])

    def _verbs_of_groups(self) -> dict[str, set[str]]:
        groups = {group: file.parent for group, file in sorted(self._files().items()) if file.name == "__init__.py"}
        return {group: {file.stem for file in folder.glob("[!_]*.py")} for group, folder in groups.items()}

    def _files(self) -> dict[str, Path]:
        files = {}
        for path in (path for folder in sys.modules[self._package].__path__ for path in Path(folder).iterdir()):
            file = path / "__init__.py" if path.is_dir() else path
            if file.suffix == ".py" and path.stem != _HELPERS and path.stem[0] not in "_." and file.is_file():
                files[path.stem.replace("_", "-")] = file
        return files


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from slipway.deploying.deployment.checkout import checkout_revision
        from slipway.model.labels import Revision

        built = Revision(installation.commit(), dirty=False)
        if not built.commit and installation.in_checkout():
            built = checkout_revision(installation.PACKAGE.parent, {})
        click.echo(f"slipway {installation.version()}" + (f" @ {built.short}" if built.commit else ""))
        ctx.exit()


@click.group(
    name="slipway",
    cls=Verbs,
    package=__name__,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="The catalog is found by --catalog, else $SLIPWAY_CATALOG, else the choice of this checkout, else yours "
    "(slipway use). Exit codes: 0 ok, 2 flags or configuration, 3 credentials or role, 4 resource or failed job, "
    "5 quota or policy, 8 cancelled, 9 timeout, 75 sent but the answer is unknown, 130 interrupted, "
    "141 the reader of the output ended, 1 anything else.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Print the version and its commit.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.  [env: SLIPWAY_DEBUG]")
def slipway(debug: bool) -> None:
    """Submit jobs to shared training clusters on Vertex AI, and look after them.

    \b
      slipway use gs://BUCKET                 choose the catalog, once
      slipway templates                       what there is to run
      slipway submit TEMPLATE -p NAME=VALUE   run it
      slipway jobs list                       see it
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code. Errors are three lines on stderr, never a traceback."""
    arguments = list(sys.argv[1:] if args is None else args)
    begin_output()
    debug = "--debug" in arguments or bool(os.environ.get("SLIPWAY_DEBUG"))
    # At any place in the line, as people add it to the end of the line they have just typed.
    arguments = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    try:
        if "_SLIPWAY_COMPLETE" in os.environ:
            importlib.import_module(f"{__name__}.completion")  # The module tells click how to read bash's words.
        elif mend := installation.remove_namesake():
            note(
                f"warning: another package called slipway is in this environment, and has files of ours\n  fix: {mend}"
            )
        if wrong := [argument for argument in arguments if unfit(argument)]:
            fix = "type it anew, or set the terminal to UTF-8"  # No such name can be sent or found.
            raise ConfigError(f"{quoted(wrong[0])} is not valid UTF-8", fix=fix)
        result: Any = slipway.main(arguments, prog_name="slipway", standalone_mode=False)
    except click.UsageError as error:
        return _usage(error, arguments)
    except SlipwayError as error:
        return _shown(error, debug)
    except (click.Abort, KeyboardInterrupt):
        note(NOTHING_SENT)  # Otherwise the sender tells what was sent.
        out_error(Interrupted(NOTHING_SENT, fix="run the same command again"))
        return INTERRUPTED
    except Exception as error:
        return _failed(error, debug)
    return result if isinstance(result, int) else 0


def _names_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON; words after `--` are those of a job's command."""
    words = list(arguments)
    own = words[: words.index("--")] if "--" in words else words
    pairs = pairwise(own)
    return "--output=json" in own or "-ojson" in own or any(pair in _JSON_PAIRS for pair in pairs)


def run() -> None:
    """Run the console script."""
    stdout = open_stdout()
    prepare_streams()
    code = finish_output(stdout, main())
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # All output is written. Threads that still wait for an answer are waited for, unless somebody presses Ctrl-C
        # once more.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # At its end the interpreter searches all living objects for garbage once more, which takes as long as a request.
    gc.freeze()
    sys.exit(code)


def _failed(error: Exception, debug: bool) -> int:
    """Print an error that no verb expects, and return the exit code. A reader that has ended gets no message."""
    if isinstance(error, OutputError) and error.reader_ended:
        return READER_ENDED
    return _shown(_as_ours(error), debug)


def _as_ours(error: Exception) -> SlipwayError:
    """Return the error of a missing package, of stdout, of the system (a full disk, a missing folder, a file that can't
    be written), or else of a fault of Slipway."""
    ours: SlipwayError
    if isinstance(error, OutputError):
        ours = output_error(error)
    elif isinstance(error, ModuleNotFoundError) and not f"{error.name}.".startswith("slipway."):
        page = (error.name or "").partition(".")[0] in ("jinja2", "markupsafe")
        extra, does = ("board", "a page") if page else ("deploy", "deploying")
        ours = ConfigError(
            "this command needs packages that are not installed",
            why=f"there is no {error.name}: slipway alone has what submitting needs, not what {does} does",
            fix=installation.install_extra(extra),
        )
    elif isinstance(error, FileNotFoundError) and error.filename is None:
        ours = SlipwayError("this folder is gone", fix="cd to one that exists")
    elif isinstance(error, OSError):
        files = " → ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
        what = (error.strerror or str(error)).lower()
        ours = SlipwayError(f"{what}: {files}" if files else what, fix="make room, or make it readable and writable")
    else:
        ours = SlipwayError(
            f"unexpected {type(error).__name__}: {error}",
            why="this is a fault of slipway, not yours",
            fix="report it with the output of the same command and --debug",
        )
    ours.__cause__ = error
    return ours


def _usage(error: click.UsageError, arguments: Sequence[str]) -> int:
    if _names_json(arguments):  # A line that can't be parsed has no options yet.
        request_json()
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        note(error.format_message())
        return 2
    from slipway.front.cli.terminal.mistakes import fix_of, in_words

    command = error.ctx.command_path if error.ctx else "slipway"
    what = in_words(error)
    fix = fix_of(error, f"{command} --help")
    note(f"error: {what}\n  fix: {fix}")
    out_error(ConfigError(what, fix=fix))
    return 2


def _shown(error: SlipwayError, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    error.spell(as_flags)
    with contextlib.suppress(OutputError):  # The reason is on stderr.
        out_error(error)
    if error.exit_code == INTERRUPTED:
        note(str(error))  # A deliberate act of a person is not an error.
        return INTERRUPTED
    head, _, rest = error.render().partition("\n")
    note(styled(head, sys.stderr, fg="red", bold=True) + (f"\n{rest}" if rest else ""))
    return error.exit_code
