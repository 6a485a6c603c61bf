"""The job message without the rest of the package is the same message. Each test is a process: imports are for once."""

import subprocess
import sys
import textwrap


def python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_narrow_and_wide_import_give_one_and_the_same_class() -> None:
    assert (
        python("""
        from slipway.template.jobtypes import custom_job, narrow, wide
        first = custom_job()
        assert first is narrow().CustomJob.pb() is wide().CustomJob.pb()
        from google.cloud import aiplatform_v1
        assert aiplatform_v1.CustomJob.pb() is first
        from google.cloud.aiplatform_v1.types import custom_job as module
        assert module.CustomJob is aiplatform_v1.types.CustomJob is aiplatform_v1.CustomJob
        print("same")
    """)
        == "same"
    )


def test_both_ways_describe_the_same_message() -> None:
    describe = """
from google.protobuf.descriptor_pb2 import FileDescriptorProto
file = FileDescriptorProto()
job.DESCRIPTOR.file.CopyToProto(file)
file.dependency.sort()
print(file.SerializeToString(deterministic=True).hex())
"""
    alone = python(f"from slipway.template.jobtypes import narrow; job = narrow().CustomJob.pb()\n{describe}")
    whole = python(f"from google.cloud import aiplatform_v1; job = aiplatform_v1.CustomJob.pb()\n{describe}")
    assert alone == whole


def test_no_service_is_imported() -> None:
    assert (
        python("""
        import sys
        from slipway.template.jobtypes import custom_job
        custom_job()
        print([name for name in sys.modules if "aiplatform_v1.services" in name or name.startswith("grpc")])
    """)
        == "[]"
    )


def test_it_falls_back_to_the_whole_package() -> None:
    assert (
        python("""
        import sys
        from slipway.template import jobtypes
        jobtypes._folder = lambda: "/nowhere"
        assert jobtypes.narrow() is None
        job = jobtypes.custom_job()
        from google.cloud import aiplatform_v1
        assert aiplatform_v1.CustomJob.pb() is job
        print("whole")
    """)
        == "whole"
    )


def test_a_program_that_has_the_package_already_keeps_it() -> None:
    assert (
        python("""
        from google.cloud import aiplatform_v1
        from slipway.template.jobtypes import custom_job
        assert custom_job() is aiplatform_v1.CustomJob.pb()
        import google.cloud.aiplatform_v1 as again
        assert again is aiplatform_v1
        print("kept")
    """)
        == "kept"
    )
