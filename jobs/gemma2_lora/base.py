"""The base model as a folder of this machine: from Cloud Storage, from the Hugging Face hub, or made here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .folder import Folder
from .trouble import TroubleError

TOKEN = "HF_TOKEN"
_WANTED = ("*.json", "*.safetensors", "tokenizer.model")


def obtain(base: str, target: Path, environ: Mapping[str, str]) -> Path:
    """`base` is a gs:// address, a local folder, or a repository of the hub. Raises TroubleError."""
    if base.startswith("gs://"):
        return _stored(Folder(base), target)
    if Path(base).is_dir():
        return _whole(Path(base), base)
    return _from_hub(base, target, environ)


def _stored(folder: Folder, target: Path) -> Path:
    names = [name for name in folder.names() if any(Path(name).match(wanted) for wanted in _WANTED)]
    for name in names:
        folder.fetch(name, target / name)
    return _whole(target, folder.address)


def _whole(folder: Path, address: str) -> Path:
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise TroubleError(
            f"{address} holds no base model",
            "there is no config.json with *.safetensors beside it",
            "copy a model there as the hub has it: config.json, *.safetensors and the tokenizer's files",
        )
    return folder


def _from_hub(repository: str, target: Path, environ: Mapping[str, str]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
    from huggingface_hub.utils import disable_progress_bars
    from requests import RequestException

    disable_progress_bars()
    token = environ.get(TOKEN, "").strip()
    if not token:
        raise TroubleError(
            f"{repository} can't be downloaded without a token",
            f"Gemma is gated on the hub, and {TOKEN} is not set",
            f"run it by its template, which reads the token from Secret Manager, or set {TOKEN}",
        )
    page = f"https://huggingface.co/{repository}"
    elsewhere = "or copy the weights to a bucket and name them: -p base=gs://BUCKET/FOLDER"
    try:
        found = snapshot_download(repository, cache_dir=target, token=token, allow_patterns=list(_WANTED))
    except GatedRepoError as error:
        raise TroubleError(
            f"the hub does not give {repository} to the owner of the token",
            _told(error),
            f"accept the licence on {page} with the token's account, and let a fine-grained token read gated "
            f"repositories; {elsewhere}",
        ) from error
    except RepositoryNotFoundError as error:
        raise TroubleError(
            f"the hub knows no {repository} for this token",
            _told(error),
            f"store a token that is valid as a new version of the secret, or correct -p base; {elsewhere}",
        ) from error
    except (HfHubHTTPError, RequestException, OSError) as error:
        if _status(error) == 401:
            why, fix = "the hub takes the token for none of its own", "store a new one as a version of the secret"
        else:
            why, fix = _told(error), "let the job's network reach huggingface.co (a private one needs Cloud NAT)"
        raise TroubleError(f"{repository} can't be downloaded from the hub", why, f"{fix}; {elsewhere}") from error
    return _whole(Path(found), repository)


def _status(error: BaseException) -> int:
    return int(getattr(getattr(error, "response", None), "status_code", 0) or 0)


def _told(error: BaseException) -> str:
    """What the hub, or the network, said: the first cause, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]
