"""Parameters and waits as a person typed them, with all mistakes at once."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from slipway.authoring.stack.secrets import without_secrets
from slipway.base.errors import Arguments, ConfigError, Fix, together
from slipway.base.formatting import counted, nearest, quoted, seconds, short, unfit
from slipway.model.capacity import CAPACITY_TYPES, WAIT_BY_THEMSELVES
from slipway.model.catalog import command_line
from slipway.model.catalog.parameter_types import STR, Typed, Value
from slipway.model.catalog.placeholders import joined, names, render
from slipway.model.catalog.template import Parameter, Template
from slipway.model.kinds import KINDS
from slipway.model.labels import VARIABLE, excess


def assignments(
    typed: Iterable[str], noun: str = "parameter", flag: str = "-p", form: str = "name=value"
) -> dict[str, str]:
    """Split pairs of this form. Raises ConfigError for an invalid pair and for a name given twice."""
    values: dict[str, str] = {}
    problems: list[str] = []
    for text in typed:
        name, equals, value = text.partition("=")
        name = name.strip()
        # A variable's value may be secret, whatever its form.
        shown = quoted(name if equals and flag == "--env" else without_secrets(text))
        if wrong := unfit(text):
            problems.append(f"{shown} {wrong}")
        elif not equals or not name:
            problems.append(f"{shown} is not {form}")
        elif name in values:
            problems.append(f"{short(name)} is given twice")
        else:
            values[name] = value
    if problems:
        fix = f"{flag} {form.upper()}, each {form.partition('=')[0]} once"
        raise ConfigError(f"{counted(len(problems), noun)} wrong", why="\n".join(problems), fix=fix)
    return values


def waits(given: Mapping[str, str]) -> dict[str, float]:
    """Read `{"pool": "30m"}` as seconds, in the same order; `0` for flex-start is forever. Raises ConfigError."""
    waits_s: dict[str, float] = {}
    for name, time in given.items():
        if name not in CAPACITY_TYPES:
            raise ConfigError(
                f"invalid wait {quoted(f'{name}={time}')}",
                why=f"write a capacity type and a time; the types are {', '.join(CAPACITY_TYPES)}",
                fix=({"wait_for": {"pool": "30m"}}, ", for example"),
            )
        endless = name in WAIT_BY_THEMSELVES and time.strip() in ("0", "0s")
        waits_s[name] = 0.0 if endless else seconds(time)
    return waits_s


_MEANT = {
    **dict.fromkeys(("timeout", "timeout_s", "time_limit", "max_runtime", "max_time", "max_run_time"), "max_run"),
    **dict.fromkeys(("environment", "env_vars", "environment_variables", "envs", "env_file", "dotenv"), "env"),
    **dict.fromkeys(("max_retries", "retry", "num_retries"), "retries"),
    **dict.fromkeys(("nodes", "num_nodes", "replica_count", "workers_count"), "replicas"),
    **dict.fromkeys(("tags", "label"), "labels"),
    **dict.fromkeys(("source", "source_dir", "folder"), "code"),
    **dict.fromkeys(("name", "display_name"), "job_name"),
    "as_": "kind",
}
"""Arguments of a call by the names that other tools, or the command, have for them."""
_TEXTS = ("max_run", "code", "job_name", "kind")
"""The ones with a text as value."""
_FORMS = {"env": "env={'NAME': 'VALUE', …}", "labels": "labels={'KEY': 'VALUE', …}"}
"""The ones with values by name."""
_METHODS = {"wait": "wait()", "follow": "logs(follow=True)"}
"""Methods of the result that do later what a flag of the command does, by the flag."""


class ParameterMistake(NamedTuple):
    #: The parameter; empty for a mistake of all of them together.
    name: str
    what: str
    #: Empty where the template's parameters tell it.
    fix: Fix = ""
    #: The parameter that a command names, and nothing gives.
    lacks: str = ""


def resolve(template: Template, given: Mapping[str, Typed], arguments: Collection[str] = ()) -> dict[str, Value]:
    """Return every parameter's value, typed. Raises one ConfigError that lists all mistakes. `arguments`: those of the
    call in which parameters stand, one of which may be misspelled."""
    values, problems = judged(template, given, arguments)
    if problems:
        usual = f"slipway templates show {template.name}"
        raise ConfigError(
            f"{template.name}: {counted(len(problems), 'parameter')} wrong",
            why="\n".join(mistake.what for mistake in problems),
            fix=together(mistake.fix or usual for mistake in problems),
        )
    return values


def judged(
    template: Template, given: Mapping[str, Typed], arguments: Collection[str] = ()
) -> tuple[dict[str, Value], list[ParameterMistake]]:
    """Return every parameter's value and all mistakes. Those that only a command names stay as written."""
    known = {parameter.name: parameter for parameter in template.parameters}
    named = _named(template, given)
    free = {name: Parameter(name, STR.name) for name in given if name not in known and name in named}
    unknown = (name for name in given if name not in known and name not in named)
    problems = [_unknown(name, template, given, arguments) for name in unknown]
    values: dict[str, Value] = {}
    for name, parameter in {**known, **free}.items():
        if name in given:
            value, problem = typed(parameter, given[name])
        elif parameter.required:
            value, problem = None, ParameterMistake(name, f"{name} is missing: {describe(parameter)}")
        else:
            value, problem = parameter.default, None
        if problem:
            problems.append(problem)
        elif value is not None:
            values[name] = value
    fillers = {*free, *(name for name, parameter in known.items() if not parameter.command)}
    for command, text in _commands(template, given).items():
        problems += [_lacking(command, name) for name in command_line.names(text) if name not in fillers]
    if not problems:  # Only complete values make the texts of the request.
        plain = texts(template, values)
        problems += _unfit_for_variables(template, plain)
        for name in _commands(template, plain):
            if not any(shlex.split(str(plain[name]))[:1]):
                fix = ({"params": {name: "python train.py"}}, ", for example")
                problems.append(ParameterMistake(name, f"{name} names no program: its first word is empty", fix))
    if much := excess(values):
        what = f"all values together {much}: put a long one into a file, and give its gs:// address"
        problems.append(ParameterMistake("", what))
    return values, problems


def _unfit_for_variables(template: Template, given: Mapping[str, Typed]) -> Iterable[ParameterMistake]:
    """Yield the parameters that become variables of the environment, and whose values these can't have."""
    values = {name: joined(value) for name, value in given.items()}
    if not any("'" in value for value in values.values()):
        return
    from slipway.model.rules.code import value_problem
    from slipway.model.rules.rule import Subject

    pools = (
        pool for offer in template.offers if offer.kind in KINDS for pool in Subject(offer.kind, offer.request).workers
    )
    # A pipeline is given its parameters themselves, where other kinds have a record of them.
    variables = [entry for pool in pools for entry in pool.code.get("env") or () if entry.get("name") != VARIABLE]
    variable_of = {
        name: str(variable.get("name", "")) for variable in variables for name in names(str(variable.get("value", "")))
    }
    for name, variable in variable_of.items():
        if problem := value_problem(variable, values.get(name, "")):
            yield ParameterMistake(name, f"{name}={short(values[name])}: {problem[0]}", problem[1])


def texts(template: Template, values: Mapping[str, Value]) -> dict[str, Typed]:
    """Return the values as a request carries them, and commands with the parameters that they name."""
    plain: dict[str, Typed] = {
        name: tuple(map(render, value)) if isinstance(value, tuple) else render(value) for name, value in values.items()
    }
    return {**plain, **{name: command_line.filled(text, plain) for name, text in _commands(template, plain).items()}}


def unnamed(template: Template, given: Mapping[str, Typed]) -> set[str]:
    """Return the parameters that the template does not declare, and no command of these names."""
    return {*given} - {parameter.name for parameter in template.parameters} - _named(template, given)


def _commands(template: Template, given: Mapping[str, Typed]) -> dict[str, str]:
    declared = (parameter for parameter in template.parameters if parameter.command)
    commands = {parameter.name: given.get(parameter.name, parameter.default) for parameter in declared}
    return {name: str(text) for name, text in commands.items() if text is not None}


def _named(template: Template, given: Mapping[str, Typed]) -> set[str]:
    return {name for text in _commands(template, given).values() for name in command_line.names(text)}


def describe(parameter: Parameter) -> str:
    """Return type, bounds and choices as text: `a whole number, 1 to 5000`."""
    if parameter.command and not parameter.choices:
        return "a command; {name} in it is any -p name=…"
    if parameter.kind.item and (parameter.choices or parameter.bounds):
        return f"{parameter.kind.words}, each {describe(parameter.each) if parameter.choices else parameter.bounds}"
    if parameter.choices:
        return f"one of {', '.join(render(choice) for choice in parameter.choices)}"
    return ", ".join(word for word in (parameter.kind.words, parameter.bounds) if word)


def typed(parameter: Parameter, text: Typed) -> tuple[Value | None, ParameterMistake | None]:
    """Return a parameter's value as it was written, typed, or its mistake."""
    name = parameter.name
    if isinstance(text, tuple) and not parameter.kind.item:
        return None, ParameterMistake(name, f"{name} is given a list, and takes {describe(parameter)}")
    value = parameter.kind.read(text) if isinstance(text, str) else text
    if isinstance(value, tuple):
        items = [typed(replace(parameter.each, name=f"{name}[{at}]"), str(item)) for at, item in enumerate(value)]
        wrong_item = next((mistake._replace(name=name) for _, mistake in items if mistake), None)
        if wrong_item and isinstance(text, str) and any(parameter.each.kind.read(str(item)) is None for item in value):
            typed_so = {"params": {name: parameter.kind.words.rpartition(" ")[2]}}
            wrong_item = wrong_item._replace(fix=("separated by commas, without brackets: ", typed_so))
        return (None, wrong_item) if wrong_item else (tuple(item for item, _ in items), None)  # type: ignore[misc]
    brief = short(text := str(text))
    if value is None or (parameter.choices and value not in parameter.choices):
        printed = brief if brief.isprintable() else ascii(brief)
        return None, ParameterMistake(name, f"{name}={printed} is not {describe(parameter)}")
    if parameter.command and (wrong := parameter.refusal(value)):
        return None, ParameterMistake(name, f"{name} {wrong}", _for_a_shell(name, text))
    if parameter.refusal(value):
        return None, ParameterMistake(name, f"{name}={brief} is out of bounds: {parameter.bounds}")
    return value, None


def _for_a_shell(name: str, text: str) -> Fix:
    if command_line.unreadable(text):
        return "write it in one line, and close every quote"
    own_file = (
        {"params": {name: "bash run.sh"}},
        ", with a file run.sh in the folder; or quote what is meant as it stands",
    )
    return ({"params": {name: command_line.with_shell(text)}}, "\nor ", *own_file)


def _unknown(name: str, template: Template, given: Mapping[str, Typed], arguments: Collection[str]) -> ParameterMistake:
    if mistake := _meant_for_the_call(name, template, given, arguments):
        return mistake
    known = [parameter.name for parameter in template.parameters]
    named = sorted(_named(template, given))
    near = nearest(name, [*arguments, *known, *named])
    argument = "=" if near in arguments and near not in {*known, *named} else ""
    instead = f"did you mean {near}{argument}?" if near else f"the template has {', '.join(known) or 'none'}"
    command = _command(template)
    lacks = f", and {command} has no {{{short(name)}}}" if command else ""
    way: Fix = ""
    if near in named and near in given:  # A job's, where this one is like it.
        way = ({"params": {str(near): joined(given[name])}},)
    elif command and not near:
        way = _in_command(name, command)
    return ParameterMistake(name, f"unknown parameter {short(name)}{lacks}; {instead}", way)


def _command(template: Template) -> str:
    """Return the template's parameter that is a command, empty for none."""
    return next((parameter.name for parameter in template.parameters if parameter.command), "")


def _in_command(name: str, command: str) -> Fix:
    if command_line.can_name(name):
        return f"write {{{name}}} in the {command}, where its value belongs"
    return "a name of letters, digits, _, - and . can stand in a command"


def _meant_for_the_call(
    name: str, template: Template, given: Mapping[str, Typed], arguments: Collection[str]
) -> ParameterMistake | None:
    """Return the mistake of a parameter by whose name another tool, or the command, has what the call has otherwise."""
    if name == "dry_run":
        fix = "slipway submit … --dry-run --output json"
        return ParameterMistake(name, "unknown parameter dry_run: a call of Python has no dry run", fix)
    if (argument_meant := _MEANT.get(name, "")) in arguments:
        return _argument_of_another_name(name, argument_meant, template, given)
    if not arguments or name not in _METHODS:
        return None
    method = f"{_METHODS[name]} of what the call returns"
    what = f"unknown parameter {name}; did you mean {method}?"
    return ParameterMistake(name, what, (method, *_of_command(name, template)))


def _argument_of_another_name(
    name: str, meant: str, template: Template, given: Mapping[str, Typed]
) -> ParameterMistake:
    """Return the mistake of an argument that has the name that another tool has for it."""
    value = given[name]
    fix: str | Arguments = _FORMS.get(meant, f"{meant}=…")
    if isinstance(value, str) and meant in _TEXTS:
        fix = {meant: value}
    what = f"unknown parameter {short(name)}; did you mean {meant}=?"
    return ParameterMistake(name, what, (fix, *_of_command(name, template)))


def _of_command(name: str, template: Template) -> tuple[str | Arguments, ...]:
    """Return the rest of a fix: how a command of the template has a parameter of this name; nothing without one."""
    command = _command(template)
    if not command:
        return ()
    return "; for a parameter of the command: ", {"params": {command: f"… {{{name}}}"}}


def _lacking(command: str, name: str) -> ParameterMistake:
    fix = ({"params": {name: "VALUE"}}, f", or for these very characters {{{{{name}}}}}")
    what = f"{command} has {{{name}}}, and no parameter {name} is given"
    return ParameterMistake(name=command, what=what, fix=fix, lacks=name)
