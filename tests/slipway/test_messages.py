"""A message without the rest of its package is the same message. Each test is a process: imports are for once. # D9"""

import subprocess
import sys
import textwrap

import pytest

MESSAGES = pytest.mark.parametrize(
    ("library", "module", "name"),
    [
        ("google.cloud.aiplatform_v1", "custom_job", "CustomJob"),
        ("google.cloud.cloudquotas_v1", "resources", "QuotaInfo"),
    ],
)


def python(program: str, *, library: str, module: str, name: str) -> str:
    named = f"import sys\nfrom slipway import messages\nWHERE = {library!r}, {module!r}\nNAME = {name!r}\n"
    done = subprocess.run(
        [sys.executable, "-c", named + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@MESSAGES
def test_narrow_and_wide_import_give_one_and_the_same_class(library: str, module: str, name: str) -> None:
    said = python(
        """
        from importlib import import_module
        first = messages.message(*WHERE, NAME)
        assert first is getattr(messages.narrow(*WHERE), NAME).pb() is getattr(messages.wide(*WHERE), NAME).pb()
        package, module = import_module(WHERE[0]), import_module(".types.".join(WHERE))
        assert getattr(package, NAME).pb() is first
        assert getattr(module, NAME) is getattr(package.types, NAME) is getattr(package, NAME)
        print("same")
        """,
        library=library,
        module=module,
        name=name,
    )
    assert said == "same"


@MESSAGES
def test_both_ways_describe_the_same_message(library: str, module: str, name: str) -> None:
    describe = """
from google.protobuf.descriptor_pb2 import FileDescriptorProto
file = FileDescriptorProto()
message.DESCRIPTOR.file.CopyToProto(file)
file.dependency.sort()
print(file.SerializeToString(deterministic=True).hex())
"""
    alone, whole = (
        python(how + describe, library=library, module=module, name=name)
        for how in (
            "message = getattr(messages.narrow(*WHERE), NAME).pb()",
            "from importlib import import_module\nmessage = getattr(import_module(WHERE[0]), NAME).pb()",
        )
    )
    assert alone == whole


@MESSAGES
def test_no_service_is_imported(library: str, module: str, name: str) -> None:
    said = python(
        """
        messages.message(*WHERE, NAME)
        print([name for name in sys.modules if f"{WHERE[0]}.services" in name or name.startswith("grpc")])
        """,
        library=library,
        module=module,
        name=name,
    )
    assert said == "[]"


@MESSAGES
def test_it_falls_back_to_the_whole_package(library: str, module: str, name: str) -> None:
    said = python(
        """
        from importlib import import_module
        messages._folder = lambda package: "/nowhere"
        assert messages.narrow(*WHERE) is None
        message = messages.message(*WHERE, NAME)
        assert getattr(import_module(WHERE[0]), NAME).pb() is message
        print("whole")
        """,
        library=library,
        module=module,
        name=name,
    )
    assert said == "whole"


@MESSAGES
def test_a_program_that_has_the_package_already_keeps_it(library: str, module: str, name: str) -> None:
    said = python(
        """
        from importlib import import_module
        package = import_module(WHERE[0])
        assert messages.message(*WHERE, NAME) is getattr(package, NAME).pb()
        assert import_module(WHERE[0]) is package
        print("kept")
        """,
        library=library,
        module=module,
        name=name,
    )
    assert said == "kept"


def test_threads_may_ask_for_messages_of_several_libraries_at_once() -> None:
    said = python(
        """
        from concurrent.futures import ThreadPoolExecutor
        asked = [(*WHERE, NAME), ("google.cloud.cloudquotas_v1", "resources", "QuotaInfo")] * 4
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda one: messages.message(*one), asked))
        assert len(set(found)) == 2
        assert not {"google.cloud.aiplatform_v1", "google.cloud.cloudquotas_v1"} & set(sys.modules)
        print("whole")
        """,
        library="google.cloud.aiplatform_v1",
        module="custom_job",
        name="CustomJob",
    )
    assert said == "whole"
