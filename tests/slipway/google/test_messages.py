"""A message without the rest of its package is the same message. (D9)

Imports are for once, so each test is a process; it has both libraries, whose whole packages take seconds to import.
"""

import json
import subprocess
import sys
import textwrap
from typing import Any

ABOUT = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from slipway.google import messages

ASKED = [
    ("google.cloud.aiplatform_v1", "custom_job", "CustomJob"),
    ("google.cloud.cloudquotas_v1", "resources", "QuotaInfo"),
]

def described(message):
    file = FileDescriptorProto()
    message.DESCRIPTOR.file.CopyToProto(file)
    file.dependency.sort()
    return file.SerializeToString(deterministic=True).hex()

found = {}
"""


def python(program: str) -> Any:
    """What a program put into `found`."""
    done = subprocess.run(
        [sys.executable, "-c", ABOUT + textwrap.dedent(program) + "\nprint(json.dumps(found))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def narrow_first() -> Any:
    """Messages first, by threads that ask for several at once, and then the whole packages."""
    return python(
        """
        with ThreadPoolExecutor(8) as threads:
            asked = list(threads.map(lambda one: messages.message(*one), ASKED * 4))
        assert len(set(asked)) == 2
        assert not {package for package, _, _ in ASKED} & set(sys.modules)
        found["services"] = [name for name in sys.modules if "_v1.services" in name or name.startswith("grpc")]
        found["described"] = [
            described(getattr(messages.narrow(package, module), name).pb()) for package, module, name in ASKED
        ]
        for where, first in zip(ASKED, asked[:2], strict=True):
            library, module, name = where
            assert first is messages.message(*where) is getattr(messages.narrow(library, module), name).pb()
            assert first is getattr(messages.wide(library, module), name).pb()
            package, types = import_module(library), import_module(f"{library}.types.{module}")
            assert getattr(package, name).pb() is first
            assert getattr(types, name) is getattr(package.types, name) is getattr(package, name)
        """
    )


def whole_first() -> Any:
    """The whole packages first."""
    return python(
        """
        for where in ASKED:
            library, _, name = where
            package = import_module(library)
            assert messages.message(*where) is getattr(package, name).pb()
            assert import_module(library) is package
        found["described"] = [described(getattr(import_module(library), name).pb()) for library, _, name in ASKED]
        """
    )


def test_both_ways_give_one_class_that_describes_the_same_message_and_no_service_is_imported() -> None:
    narrow = narrow_first()
    assert narrow["described"] == whole_first()["described"] and narrow["services"] == []


def test_it_falls_back_to_the_whole_package() -> None:
    python(
        """
        messages._folder = lambda package: "/nowhere"
        for where in ASKED:
            library, module, name = where
            assert messages.narrow(library, module) is None
            message = messages.message(*where)
            assert getattr(import_module(library), name).pb() is message
        """
    )
