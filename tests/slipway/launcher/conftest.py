"""The local cloud, for its storage. Without `local/` the tests that need it are skipped."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A `tests.local.conftest.LocalCloud` of this run's own, without rate limits."""
    local = pytest.importorskip("tests.local.conftest", reason="needs the local cloud", exc_type=ImportError)
    running = local.LocalCloud(tmp_path_factory.mktemp("cloud") / "state")
    running.up(*[word for setting in local.FAST for word in ("--set", setting)])
    yield running
    running.local("down")
