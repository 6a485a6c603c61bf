"""Each word of each served method is honoured, refused with 501, or listed as one that nothing comes of. (N4, N17)

Words are the parameters of queries and the fields of bodies, by Google's own definitions. All are sent, each along with
a request of `contracts/` that is answered well.
"""

import re
from fnmatch import fnmatchcase

import pytest

from tests.conftest import ROOT
from tests.test_contracts import FILES, NAMES, requests
from tests.walking import Walk
from vertex_local import discovery
from vertex_local.projects import Projects
from vertex_local.router import Router
from vertex_local.server import control
from vertex_local.server.main import load_services
from vertex_local.testing.calling import every_service
from vertex_local.wire import ApiError

PAGE = (ROOT / "docs" / "fidelity.md").read_text("utf-8")
TABLE = PAGE.partition("| methods | words that nothing comes of |")[2].partition("\n\n")[0]
#: (methods, words): patterns such as `storage.*`, and `?parameter` or `a.field`.
LISTED = [
    (method, word)
    for methods, words in re.findall(r"^\| ([^|]+) \| ([^|]+) \|", TABLE, re.M)
    for method in re.findall(r"`([^`]+)`", methods)
    for word in re.findall(r"`([^`]+)`", words)
]

BY_HAND = {
    *("replication.userManaged.replicas.0.location", "secretType"),
    *("timeSeriesData.0.valueType", "writeRunDataRequests.0.timeSeriesData.0.valueType"),
}
"""Words whose refusal names them in words of its own."""


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """The walk of all methods, each in the cloud of the lines that come before its own."""
    walk = Walk()
    for name in FILES:
        with every_service(tmp_path_factory.mktemp(name) / "state") as calling:
            routes = [walk.noting(route) for service in load_services() for route in service.routes(calling.world)]
            calling.router = Router([*routes, *control.routes(Projects(calling.world), ())])
            for line in requests(name):
                (walk.send if line.status < 300 else walk.compare)(calling, line.sent)
                try:
                    calling.reply(*line.sent)
                except ApiError:
                    continue
    return walk


def listed(method: str, word: str) -> list[tuple[str, str]]:
    return [row for row in LISTED if fnmatchcase(method, row[0]) and fnmatchcase(word, row[1])]


def test_no_word_is_taken_and_ignored(walk: Walk) -> None:
    silent = {words for words in walk.ignored() if not listed(*words)}
    assert silent == set(), "\n".join(" ".join(words) for words in sorted(silent))


def test_what_is_refused_is_refused_for_its_own_sake(walk: Walk) -> None:
    """Or its message is: a secret's mask takes labels alone, a value is of the kind that its series has."""
    assert {word for _, word in walk.unclear()} == BY_HAND


def test_every_row_of_the_table_is_of_words_that_nothing_comes_of(walk: Walk) -> None:
    used = {row for words in walk.ignored() for row in listed(*words)}
    assert [row for row in LISTED if row not in used] == []


def test_every_method_that_takes_words_is_walked(walk: Walk) -> None:
    assert len(walk.found) > 140
    assert {"storage.objects.list", "aiplatform.projects.locations.customJobs.create"} < set(walk.found)


def test_every_parameter_of_all_methods_is_told() -> None:
    every = {name for api in discovery._APIS for name in discovery.document(api)["parameters"]}
    told = set(re.findall(r"`([\w.$]+)`", PAGE.partition("## For every method")[2].partition("\n## ")[0]))
    assert {name.removeprefix("$.") for name in every} <= told | set(NAMES)
