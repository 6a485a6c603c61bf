"""Results, checkpoints and metrics of jobs that get lost. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from slipway.base.formatting import short
from slipway.model.catalog.placeholders import OUTPUT, placeholder
from slipway.model.catalog.template import Template
from slipway.reviewing.change.python_code import (
    CHECKPOINT_LINE,
    LOCAL_PLACE,
    OUTPUT_LINE,
    OWN_PLACE,
    PLACE,
    PLACE_OF_PLATFORM,
    RESTORES,
    SAVES,
    JobCode,
)
from slipway.reviewing.findings.job_code import tasks

_OUTPUT_NAME = re.compile(r"(?i)out|ckpt|checkpoint|result|save|export")
_LASTS = re.compile(r"gs://|/gcs/|/mnt/|\$\{slipway\.output\}")
_OF_MACHINE = re.compile(r"/(var/)?tmp\b|/root\b|/home\b|/dev/shm\b")
_LOST = "results are lost when a job ends"
_AGAIN = "a restarted job begins from the start"


def losses(old: Template, new: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Compare where the code's results, checkpoints and metrics go."""
    yield from _lost_results(before, after)
    yield from _untold_outputs(old, new, after)
    yield from _unnamed_metrics(old, new, before, after)
    if new.checkpoints:
        yield from _lost_checkpoints(before, after)


def _lost_results(before: JobCode, after: JobCode) -> Iterator[str]:
    places = before.lines(PLACE)
    own = before.lines(OWN_PLACE)
    added = after.lines(PLACE) - places
    local = after.lines(LOCAL_PLACE) - before.lines(LOCAL_PLACE) - added
    if _is_lost(PLACE, before, after):
        yield f"{_LOST}: no line names their place any more, as did `{_quotable(own or places)}`"
    elif _is_lost(OWN_PLACE, before, after) and not added:
        yield f"{_LOST}: no line names their place any more, as did `{_quotable(own)}`"
    elif local and len(after.lines(OWN_PLACE)) < len(own):
        yield f"{_LOST}: they go to the machine's own disk, `{_quotable(local)}`"


def _is_lost(pattern: re.Pattern[str], before: JobCode, after: JobCode) -> bool:
    """Return whether code has no more line with a match."""
    is_left = len(after.lines(pattern)) > 0
    return len(before.lines(pattern)) > 0 and not is_left


def _quotable(lines: Iterable[str]) -> str:
    """Return the first of some lines of code, short and without backticks."""
    return short(min(lines).replace("`", "'"), 60)


def _settings(template: Template) -> dict[str, str]:
    """Return its variables and its arguments of the form `--name=value`."""
    found = {}
    for task in tasks(template):
        for entry in task.get("env", ()):
            found[str(entry.get("name"))] = str(entry.get("value"))
        for argument in task.get("args", ()):
            name, _, value = str(argument).partition("=")
            found[name] = value
    return found


def moved_outputs(old: Template, new: Template) -> Iterator[str]:
    """Yield variables and arguments that have a path of the machine as the place of results."""
    before = _settings(old)
    after = _settings(new)
    for name in filter(_OUTPUT_NAME.search, before.keys() & after.keys()):
        if _LASTS.match(before[name]) and _OF_MACHINE.match(after[name]):
            yield f"{_LOST}: `{name}` is `{short(after[name], 60)}`, on the machine's own disk"


def _untold_outputs(old: Template, new: Template, code: JobCode) -> Iterator[str]:
    """Yield what told jobs the place of their results and goes, if nothing else tells it."""
    after = _settings(new)
    told = [name for name, value in _settings(old).items() if placeholder(OUTPUT) in value]
    is_told = placeholder(OUTPUT) in "".join(after.values())
    if is_told or code.lines(PLACE_OF_PLATFORM):
        return
    for name in {*told} - after.keys():
        yield f"{_LOST}: `{name}` told jobs their place and goes, and no code names `SLIPWAY_OUTPUT`"


def _unnamed_metrics(old: Template, new: Template, before: JobCode, after: JobCode) -> Iterator[str]:
    """Yield metrics that the code doesn't name, if it named the earlier ones: else their names may be computed."""
    if not old.study or not new.study:
        return
    known = dict(old.study.metrics).keys()
    is_certain = known <= before.words and not after.has_computed_metrics
    lacking = dict(new.study.metrics).keys() - after.words
    for metric in sorted(lacking) if is_certain else ():
        yield f"trials have no result: no line of the code names the metric `{metric}`"


def _lost_checkpoints(before: JobCode, after: JobCode) -> Iterator[str]:
    """Compare whether code saves and restores, and under which name."""
    for pattern, act in ((SAVES, "saves"), (RESTORES, "restores")):
        if _is_lost(pattern, before, after):
            yield f"{_AGAIN}: no line {act} a checkpoint any more"
    known = before.names(CHECKPOINT_LINE)
    named = after.names(OUTPUT_LINE)
    removed = sorted(known - named)
    added = sorted(named - before.names(OUTPUT_LINE))
    if removed and added:
        yield f"{_AGAIN}: the checkpoint's place has the name `{added[0]}` instead of `{removed[0]}`"
