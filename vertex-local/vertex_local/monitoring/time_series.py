"""The method that lists time series."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from .. import document_filters, documents, filter_fields, filters
from ..clock import moment_of, timestamp
from ..document_filters import Test
from ..filters import Values
from ..wire import Call, Reply, Route, invalid_argument, not_found
from ..world import World
from . import aggregation, gauges
from .gauges import Series

_PAGE = 100_000
_LABELLED: Mapping[str, Any] = {"type": "text", "labels": {}, "label": {}}
_FIELDS = filter_fields.of_tree(
    {
        "project": "text",
        "group": {"id": "text"},
        "metric": _LABELLED,
        "resource": _LABELLED,
        "metadata": {"system_labels": {}, "user_labels": {}},
    }
)
_TYPE = re.compile(r"metric\.type\s*=\s*[\"']([^\"']*)[\"']")
_INSTANT = timedelta(microseconds=1)


class TimeSeries:
    def __init__(self, world: World) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        return [Route("GET", "/v3/projects/{project}/timeSeries", self.list)]

    def list(self, call: Call) -> Reply:
        """Return a page of time series. Raises 400 for a filter or interval that lacks something, 403, 404."""
        resource = f"//monitoring.googleapis.com/projects/{call.params['project']}"
        self._world.access.require(call.principal, "monitoring.timeSeries.list", call.params["project"], resource)
        text = call.query.get("filter", "")
        if "metric.type" not in text:
            raise invalid_argument('The filter must name a metric type: metric.type = "…".')
        test = document_filters.parsed(text, _FIELDS, _FUNCTIONS)
        kinds = set(_TYPE.findall(text))
        if len(kinds) > 1:
            raise invalid_argument("The filter must name a single metric type.")
        for kind in kinds:
            if kind not in gauges.TYPES:
                raise not_found(f'Cannot find metric(s) that match type = "{kind}".')
        after, until = _interval(call)
        how = aggregation.asked(call)
        if call.query.get("orderBy"):
            raise invalid_argument("orderBy is not supported; it must be left blank.")
        found = [
            gauges.filled(self._world, item, after, until)
            for item in (*gauges.of_jobs(self._world, after, until), *self._quotas(after, until))
            if test(item.document())
        ]
        if how:
            found = aggregation.reduced([aggregation.aligned(series, how, until) for series in found], how)
        headers = call.query.get("view") in ("HEADERS", "1")
        listed = documents.listed(
            call,
            "timeSeries",
            documents.sliced(found) if headers else _by_points(found),
            lambda item: item.answer(headers_only=headers),
            usual=_PAGE,
            most=_PAGE,
        )
        return documents.without_empty(listed)

    def _quotas(self, after: str, until: str) -> tuple[gauges.Series, ...]:
        """Return the series of quotas: of now alone, and none where the setting says so."""
        if not self._world.settings.quota_series or not after < self._world.now() <= until:
            return ()
        return tuple(gauges.of_quotas(self._world))


def _interval(call: Call) -> tuple[str, str]:
    """Return (after, until): without a start the interval is an instant."""
    end = _moment(call, "interval.endTime", "")
    start = _moment(call, "interval.startTime", call.query["interval.endTime"])
    if start > end:
        raise invalid_argument("The interval's start is after its end.")
    return timestamp(min(start, end - _INSTANT)), timestamp(end)


def _moment(call: Call, name: str, default: str) -> datetime:
    text = call.query.get(name) or default
    try:
        moment = moment_of(text)
    except ValueError as error:
        raise invalid_argument(f"Invalid value at '{name}' (Timestamp), \"{text}\"") from error
    if moment.tzinfo is None:
        raise invalid_argument(f"Invalid value at '{name}' (Timestamp), \"{text}\": the time zone is missing.")
    return moment


def _by_points(found: Sequence[Series]) -> documents.Pages[Series]:
    """Return the pages of series, whose size counts points: a page may end within a series."""

    def page(after: str, size: int) -> tuple[Sequence[Series], str]:
        at, skipped = map(int, (after or "0 0").split())
        items = []
        while at < len(found) and size > 0:
            points = found[at].points[skipped : skipped + size]
            items.append(replace(found[at], points=points))
            size, skipped = size - len(points), skipped + len(points)
            if skipped >= len(found[at].points):
                at, skipped = at + 1, 0
        return items, f"{at} {skipped}" if at < len(found) else ""

    return page


def _on_value(holds: Callable[[str, Values], bool], most: int = 1) -> Callable[[Values], Test]:
    """Return a function of a filter, as in `field = starts_with("…")`, of at most so many texts."""

    def function(values: Values) -> Test:
        field, texts = values[0], values[1:]
        if _FIELDS(filters.path(field)) is None:
            raise invalid_argument(f"Invalid filter: field '{field}' is not supported.")
        if len(texts) > most:
            raise invalid_argument(f"Invalid filter: a function of '{field}' has too many values.")
        return lambda document: holds(str(document_filters.value_at(document, field) or ""), texts)

    return function


_FUNCTIONS: Mapping[str, Callable[[Values], Test]] = {
    "one_of": _on_value(lambda value, texts: value in texts, most=100),
    "starts_with": _on_value(lambda value, texts: value.startswith(texts[0])),
    "ends_with": _on_value(lambda value, texts: value.endswith(texts[0])),
    "has_substring": _on_value(lambda value, texts: texts[0] in value),
}
