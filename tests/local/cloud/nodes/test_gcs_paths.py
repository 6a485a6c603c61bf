"""What a command names under /gcs is there when it starts. (N17)"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from local.cloud.nodes import downloads, gcs_paths
from local.cloud.nodes.spec import ReplicaSpec, UnreadyError


def test_objects_are_fetched_and_named_where_they_are(tmp_path: Path) -> None:
    fetched: list[str] = []
    said: list[tuple[Any, ...]] = []

    def download(spec: ReplicaSpec, uri: str, folder: Path, say: Callable[[str], None]) -> Path:
        if "/out" in uri:
            raise UnreadyError(f"{uri} can't be read by a@b: HTTP 404")
        assert folder.is_dir()
        fetched.append(uri)
        return folder / "file"

    words = ["sh", "-c", "pip3 install --user /gcs/bkt/p-0.1.tar.gz && python3 -m p", "--data=/gcs/bkt/deep/x.csv"]
    with patch.object(downloads, "download", download):
        found = gcs_paths.fetched(
            [*words, "--out=/gcs/bkt/out", "/gcs/bkt", "/gcs/"],
            cast(ReplicaSpec, None),
            tmp_path,
            lambda *line: said.append(line),
        )
    assert found == [
        *("sh", "-c", "pip3 install --user gcs/bkt/p-0.1.tar.gz && python3 -m p", "--data=gcs/bkt/deep/x.csv"),
        *("--out=/gcs/bkt/out", "/gcs/bkt", "/gcs/"),
    ]
    assert fetched == ["gs://bkt/p-0.1.tar.gz", "gs://bkt/deep/x.csv"]
    assert [line[0].partition(":")[0] for line in said] == ["Nothing is at /gcs/bkt/out"]
