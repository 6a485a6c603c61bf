"""Refusals of the Hugging Face hub, or of the way to it, in words, with what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .trouble import TroubleError

TOKEN = "HF_TOKEN"


@contextlib.contextmanager
def in_words(repository: str, page: str, named: str, elsewhere: str) -> Iterator[None]:
    """`named`: what named the repository, to be corrected; `elsewhere`: what to do without the hub."""
    from httpx import HTTPError
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    try:
        yield
    except (HfHubHTTPError, HTTPError, OSError) as error:
        what, why = f"{repository} can't be downloaded from the hub", _told(error)
        if isinstance(error, GatedRepoError):
            what = f"the hub does not give {repository} to the owner of the token"
            fix = f"accept the licence on {page} with the token's account, and let a fine-grained token read gated ones"
        elif isinstance(error, RepositoryNotFoundError):
            what = f"the hub knows no {repository} for this token"
            fix = f"store a token that is valid as a new version of the secret, or correct {named}"
        elif getattr(getattr(error, "response", None), "status_code", 0) == 401:
            why, fix = "the hub takes the token for none of its own", "store a new one as a version of the secret"
        else:
            fix = "let the job's network reach huggingface.co (a private one needs Cloud NAT)"
        raise TroubleError(what, why, f"{fix}; {elsewhere}") from error


def _told(error: BaseException) -> str:
    """Return the first cause that the hub or the network gave, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]
