"""A stack whose state is in S3 or in Azure: deployed, looked after, taken down. # N4 # N10

The services are emulators of the package registries. Neither shows what credentials of the real ones may do.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.laptop import UV
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

MOTO = "moto[server]==5.2.5"
AZURITE = "azurite@3.37.0"
S3 = {"AWS_ACCESS_KEY_ID": "emulated", "AWS_SECRET_ACCESS_KEY": "emulated", "AWS_REGION": "us-east-1"}
ACCOUNT = "devstoreaccount1"
# The key that each Azurite has, as its documentation tells.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

MAKE_BUCKET = 'import sys, boto3; boto3.client("s3", endpoint_url=sys.argv[1]).create_bucket(Bucket="state")'
MAKE_CONTAINER = """
import sys
from azure.storage.blob import BlobServiceClient
key = {"account_name": sys.argv[2], "account_key": sys.argv[3]}
BlobServiceClient(sys.argv[1], credential=key).create_container("state")
"""


def with_package(package: str, program: str, *arguments: str) -> None:
    command = (str(UV), "tool", "run", "--quiet", "--from", package, "python", "-c", program, *arguments)
    subprocess.run(command, check=True, env={**os.environ, **S3})


@contextmanager
def served(command: tuple[str | Path, ...], port: int, log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        wait_for(lambda: answers(port) or process.poll() is not None, "the emulator answers")
        assert process.poll() is None, log.read_text()
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    port = free_port()
    command = (UV, "tool", "run", "--quiet", "--from", MOTO, "moto_server", "--port", str(port))
    with served(command, port, tmp_path / "s3.log"):
        with_package(MOTO, MAKE_BUCKET, f"http://127.0.0.1:{port}")
        url = f"s3://state?endpoint=http://127.0.0.1:{port}&s3ForcePathStyle=true&region=us-east-1"
        yield {**S3, "PULUMI_BACKEND_URL": url}


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("no Node, which Azure's emulator runs on")
    emulator = (npx, "--yes", "--package", AZURITE, "azurite-blob")
    had = subprocess.run((*emulator, "--version"), capture_output=True, text=True, check=False)
    if had.returncode:
        pytest.skip(f"{AZURITE} can't be had from the registry: {had.stderr.strip()[-200:]}")
    port = free_port()
    command = (*emulator, "--inMemoryPersistence", "--blobPort", str(port), "--skipApiVersionCheck")
    with served(command, port, tmp_path / "azure.log"):
        with_package("azure-storage-blob==12.27.1", MAKE_CONTAINER, f"http://127.0.0.1:{port}/{ACCOUNT}", ACCOUNT, KEY)
        url = f"azblob://state?storage_account={ACCOUNT}&protocol=http&domain=127.0.0.1:{port}&localemu=true"
        yield {"AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_KEY": KEY, "PULUMI_BACKEND_URL": url}


@pytest.mark.long
@pytest.mark.parametrize("backend", ["s3", "azure"])
def test_a_stack_lives_there(backend: str, checkout: Checkout, request: pytest.FixtureRequest) -> None:
    there = replace(checkout, variables={**checkout.variables, **request.getfixturevalue(backend)})
    there.write()
    looked = there.slipway("doctor", "--stack", there.stack, role="previewer")
    assert "the state: " not in looked.said, looked.said

    made = there.run("pulumi", "stack", "init", there.stack, "--non-interactive", role="deployer")
    assert made.code == 0, made.said
    there.up()
    there.at_rest()

    (cluster,) = there.clusters()
    well = there.slipway("doctor", "--stack", there.stack, role="previewer")
    assert well.code == 0 and cluster not in well.said and "the state: " not in well.said, well.said

    gone = there.destroy()
    assert gone.code == 0 and there.clusters() == {}, gone.said
