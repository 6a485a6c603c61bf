"""The plugin as the engine starts it: a process that prints its port."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import psutil
import pytest

from local.plugin import installation
from local.plugin.protos import messages, services
from local.plugin.values import encode
from tests.local.plugin.conftest import Recorder

_URN = "urn:pulumi:dev::trial::slipway:index:Workspace$gcp:storage/bucket:Bucket::work"


@pytest.fixture
def started(recorder: Recorder, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    binary = installation.install(tmp_path, Path(sys.executable)) / "pulumi-resource-gcp"
    environment = {**os.environ, **recorder.environment()}
    process = subprocess.Popen([binary, "127.0.0.1:1"], stdout=subprocess.PIPE, text=True, env=environment)
    yield process
    process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_it_leaves_when_told_to_even_at_work(
    started: subprocess.Popen[str], recorder: Recorder, told: signal.Signals
) -> None:
    recorder.refuse("POST /storage/v1/b", 503, "later")
    with grpc.insecure_channel(f"127.0.0.1:{_port(started)}") as channel:
        provider = services.ResourceProviderStub(channel)
        provider.Configure(messages.ConfigureRequest(args=encode({})))
        properties = encode({"name": "work", "location": "us", "storageClass": "STANDARD"})
        waiting = provider.Create.future(messages.CreateRequest(urn=_URN, properties=properties))
        while not recorder.asked:
            pass
        started.send_signal(told)
        assert started.wait() == 0
        waiting.cancel()


def test_it_does_not_outlive_an_engine_that_was_killed(tmp_path: Path) -> None:
    binary = installation.install(tmp_path, Path(sys.executable)) / "pulumi-resource-gcp"
    # A stand-in for the engine: it starts the plugin, reads its port and is killed.
    engine = f"exec 3< <({binary}); read -r port <&3; echo $!; kill -9 $$"
    shell = subprocess.Popen(["bash", "-c", engine], stdout=subprocess.PIPE, text=True)
    assert shell.stdout is not None
    child = int(shell.stdout.readline())
    shell.wait()
    shell.stdout.close()
    assert ends(child)


def ends(pid: int) -> bool:
    """Tell whether a process ends within a minute."""
    try:
        process = psutil.Process(pid)
        for _ in range(600):
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
            time.sleep(0.1)
    except psutil.NoSuchProcess:
        return True
    return False
