"""Files of buckets as the service's file system has them: folders by prefix, a version at each close."""

import errno
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from vertex_local.nodes.buckets.nodes import Handle, Node
from vertex_local.nodes.buckets.objects import Objects
from vertex_local.nodes.buckets.tree import Tree
from vertex_local.testing.local_cloud import LocalCloud


class Machine:
    """A replica's tree, by paths below its bucket. It asks as the kernel does: each part of a path, each time."""

    def __init__(self, cloud: LocalCloud, bucket: str, folder: Path, role: str = "owner") -> None:
        self.said: list[str] = []
        objects = Objects(cloud.url, cloud.token(role), lambda seconds: None)
        self.tree, self.bucket = Tree(objects, folder, "a@b", self.said.append), bucket

    def node(self, path: str = "") -> Node:
        found = self.tree.nodes[1]
        for part in (self.bucket, *filter(None, path.split("/"))):
            found = self.tree.nodes.learnt(self.tree.look_up(found, part))
        return found

    def parent(self, path: str) -> tuple[Node, str]:
        folder, _, name = path.rpartition("/")
        return self.node(folder), name

    def open(self, path: str) -> Handle:
        return self.tree.open(self.node(path), writes=False, emptied=False)

    def read(self, path: str) -> bytes:
        handle = self.open(path)
        content = self.tree.read(handle, 0, 1 << 20)
        self.tree.close(handle)
        return content

    def begin(self, path: str, content: bytes) -> Handle:
        """Write a file from its beginning on, and leave it open."""
        try:
            handle = self.tree.open(self.node(path), writes=True, emptied=True)
        except FileNotFoundError:
            node, handle = self.tree.create(*self.parent(path))
            self.tree.nodes.learnt(node)
        self.tree.write(handle.node, 0, content)
        return handle

    def end(self, handle: Handle) -> None:
        try:
            self.tree.keep(handle.node)
        finally:
            self.tree.close(handle)

    def write(self, path: str, content: bytes) -> None:
        self.end(self.begin(path, content))

    def names(self, path: str = "") -> dict[str, int]:
        return dict(self.tree.names(self.node(path)))


@pytest.fixture
def bucket(cloud: LocalCloud) -> Iterator[str]:
    name = f"files-{uuid.uuid4().hex[:12]}"
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": name, "location": "us-central1"})
    yield name
    cloud.rest("DELETE", "/vertex-local/faults")


@pytest.fixture
def machine(cloud: LocalCloud, bucket: str, tmp_path: Path) -> Machine:
    return Machine(cloud, bucket, tmp_path)


@pytest.fixture
def other(cloud: LocalCloud, bucket: str, tmp_path: Path) -> Machine:
    return Machine(cloud, bucket, tmp_path)


def stored(cloud: LocalCloud, bucket: str) -> dict[str, tuple[bytes, str]]:
    """Each object's content and generation."""
    path = f"/storage/v1/b/{bucket}/o"
    return {
        item["name"]: (
            cloud.call("GET", f"{path}/{quote(item['name'], safe='')}?alt=media").content,
            item["generation"],
        )
        for item in cloud.rest("GET", path).get("items", [])
    }


def put(cloud: LocalCloud, bucket: str, name: str, content: bytes) -> None:
    path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    cloud.call("POST", path, data=content, content_type="text/plain").raise_for_status()


def test_a_file_is_an_object_once_it_is_closed_and_each_close_is_a_generation(
    cloud: LocalCloud, bucket: str, machine: Machine, other: Machine
) -> None:
    handle = machine.begin("a b ü.txt", b"one")
    assert stored(cloud, bucket) == {}
    assert machine.read("a b ü.txt") == b"one", "its own machine sees it before"
    assert list(machine.names()) == ["a b ü.txt"]
    with pytest.raises(FileNotFoundError):
        other.node("a b ü.txt")
    machine.end(handle)
    first = stored(cloud, bucket)["a b ü.txt"]
    assert first[0] == b"one" == other.read("a b ü.txt")
    machine.end(machine.open("a b ü.txt"))
    assert stored(cloud, bucket)["a b ü.txt"] == first, "who only reads makes nothing"
    machine.write("a b ü.txt", b"two")
    assert stored(cloud, bucket)["a b ü.txt"] > first
    assert other.read("a b ü.txt") == b"two"


def test_what_is_written_in_the_middle_or_at_the_end_leaves_the_rest(
    cloud: LocalCloud, bucket: str, machine: Machine
) -> None:
    put(cloud, bucket, "f", b"0123456789")
    handle = machine.tree.open(machine.node("f"), writes=True, emptied=False)
    machine.tree.write(handle.node, 4, b"XX")
    machine.tree.write(handle.node, 10, b"end")
    machine.tree.resize(handle.node, 12, later=True)
    machine.end(handle)
    assert stored(cloud, bucket)["f"][0] == b"0123XX6789en"
    machine.tree.resize(machine.node("f"), 2, later=False)
    assert stored(cloud, bucket)["f"][0] == b"01"


def test_folders_are_prefixes(cloud: LocalCloud, bucket: str, machine: Machine) -> None:
    for name in ("data/x.csv", "data/deep/y.csv", "data", "odd//z", "top"):
        put(cloud, bucket, name, b"1")
    assert machine.names() == {"data": stat.S_IFDIR, "odd": stat.S_IFDIR, "top": stat.S_IFREG}
    assert machine.names("data") == {"deep": stat.S_IFDIR, "x.csv": stat.S_IFREG}
    assert machine.names("odd") == {}, "what has no name can't be shown"
    made = machine.tree.make_folder(machine.node("data"), "new")
    assert made.folder and machine.names("data/new") == {}
    assert stored(cloud, bucket)["data/new/"][0] == b""
    with pytest.raises(FileExistsError):
        machine.tree.make_folder(machine.node("data"), "new")
    draft = machine.begin("data/new/f", b"1")
    with pytest.raises(OSError) as refused:
        machine.tree.remove_folder(machine.node("data"), "new")
    assert refused.value.errno == errno.ENOTEMPTY
    machine.tree.remove(*machine.parent("data/new/f"))
    machine.end(draft)
    machine.tree.remove_folder(machine.node("data"), "new")
    assert "data/new/" not in stored(cloud, bucket)
    assert not machine.said


@pytest.mark.parametrize("there", [True, False])
def test_of_two_machines_the_first_to_close_has_written_it_and_the_other_is_told(
    cloud: LocalCloud, bucket: str, machine: Machine, other: Machine, there: bool
) -> None:
    if there:
        put(cloud, bucket, "f", b"old")
    first, second = machine.begin("f", b"first"), other.begin("f", b"second")
    machine.end(first)
    for _ in range(2):
        with pytest.raises(OSError) as refused:
            other.tree.keep(second.node)
        assert refused.value.errno == errno.ESTALE
    other.tree.close(second)
    assert other.said == [f"/gcs/{bucket}/f can't be written by a@b: somebody else has written or deleted it meanwhile"]
    assert stored(cloud, bucket)["f"][0] == b"first" == other.read("f")
    other.write("f", b"after it")
    assert machine.read("f") == b"after it"


def test_an_open_file_is_one_version_or_an_error(cloud: LocalCloud, bucket: str, machine: Machine) -> None:
    put(cloud, bucket, "f", b"x" * (1 << 20))
    handle = machine.open("f")
    assert machine.tree.read(handle, 0, 10) == b"x" * 10
    put(cloud, bucket, "f", b"new")
    with pytest.raises(OSError) as refused:
        machine.tree.read(handle, 1 << 19, 10)
    assert refused.value.errno == errno.ESTALE
    machine.tree.close(handle)
    assert machine.read("f") == b"new"


def test_a_large_file_comes_in_parts_from_wherever_it_is_read(machine: Machine) -> None:
    content = os.urandom(9 << 20)
    machine.write("large", content)
    handle = machine.open("large")
    for start in (*range(0, len(content), 1 << 20), 5_000_001, 17):
        assert machine.tree.read(handle, start, 1 << 20) == content[start : start + (1 << 20)]
    assert machine.tree.read(handle, len(content), 10) == b""


def test_renaming_keeps_what_is_open_and_replaces_what_is_there(
    cloud: LocalCloud, bucket: str, machine: Machine
) -> None:
    machine.write("to", b"old")
    handle = machine.begin("from", b"ab")
    root = machine.node()
    with pytest.raises(FileExistsError):
        machine.tree.rename(root, "from", root, "to", flags=1)
    machine.tree.rename(root, "from", root, "to", flags=0)
    machine.tree.write(handle.node, 2, b"c")
    machine.end(handle)
    assert {name: content for name, (content, _) in stored(cloud, bucket).items()} == {"to": b"abc"}
    assert not machine.said


def test_a_folder_with_files_is_not_renamed_as_in_the_service(cloud: LocalCloud, bucket: str, machine: Machine) -> None:
    root = machine.node()
    machine.tree.make_folder(root, "a")
    machine.tree.rename(root, "a", root, "b", flags=0)
    machine.write("b/f", b"1")
    with pytest.raises(OSError) as refused:
        machine.tree.rename(root, "b", root, "c", flags=0)
    assert refused.value.errno == errno.EMFILE
    assert set(stored(cloud, bucket)) == {"b/", "b/f"}
    assert "a folder that has files can't be renamed" in machine.said[0]


def test_a_removed_file_that_is_open_is_nobody_s_object(cloud: LocalCloud, bucket: str, machine: Machine) -> None:
    put(cloud, bucket, "old", b"1")
    for name in ("old", "new"):
        handle = machine.begin(name, b"half")
        machine.tree.remove(*machine.parent(name))
        machine.tree.write(handle.node, 4, b"whole")
        assert machine.tree.read(handle, 0, 20) == b"halfwhole"
        machine.end(handle)
    assert stored(cloud, bucket) == {}


def test_links_lead_where_they_were_told(machine: Machine, other: Machine) -> None:
    machine.tree.make_link(machine.node(), "latest", "runs/7")
    assert other.names() == {"latest": stat.S_IFLNK}
    version = other.node("latest").version
    assert version and version.link == "runs/7"
    with pytest.raises(FileExistsError):
        other.tree.make_link(other.node(), "latest", "runs/8")


def test_only_buckets_that_are_there_are_folders_and_nobody_makes_one(machine: Machine) -> None:
    root = machine.tree.nodes[1]
    for name in ("no-such-bucket-here", ".Trash", "UPPER"):
        with pytest.raises(FileNotFoundError):
            machine.tree.look_up(root, name)
    with pytest.raises(OSError) as refused:
        list(machine.tree.names(root))
    assert refused.value.errno == errno.ENOTSUP
    for attempt in (machine.tree.make_folder, machine.tree.remove_folder, machine.tree.create):
        with pytest.raises(PermissionError):
            attempt(root, "mine")


def test_what_the_account_may_not_is_refused_and_told_once_in_the_log(
    cloud: LocalCloud, bucket: str, tmp_path: Path
) -> None:
    weak = Machine(cloud, bucket, tmp_path, role="submitter")
    for _ in range(2):
        with pytest.raises(PermissionError):
            weak.names()
    assert len(weak.said) == 1 and f"/gcs/{bucket} can't be read by a@b: HTTP 403" in weak.said[0]


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "lost-answer", "match": "POST /upload/", "times": 1},
        {"kind": "lost-answer", "match": "PUT /upload/", "times": 2},
        {"kind": "unavailable", "match": "/o", "every": 2},
    ],
)
def test_an_answer_that_is_lost_or_late_changes_nothing(
    cloud: LocalCloud, bucket: str, machine: Machine, fault: dict[str, object]
) -> None:  # N2
    content = os.urandom(9 << 20)
    machine.node()
    cloud.rest("POST", "/vertex-local/faults", {"faults": [fault]})
    machine.write("f", content)
    assert machine.read("f") == content[: 1 << 20]
    cloud.rest("DELETE", "/vertex-local/faults")
    assert stored(cloud, bucket)["f"][0] == content
    assert not machine.said


def test_a_file_whose_name_no_object_can_have_is_refused_at_its_close(machine: Machine) -> None:
    with pytest.raises(OSError) as refused:
        machine.write("two\nlines", b"1")
    assert refused.value.errno == errno.EINVAL
    assert "Invalid object name" in machine.said[0]
