"""Who is asking: one chain of credentials for program, hooks and CLI.

`GOOGLE_OAUTH_ACCESS_TOKEN`, else application default credentials; with `GOOGLE_IMPERSONATE_SERVICE_ACCOUNT` that
service account is impersonated by either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import requests
from requests.auth import AuthBase

from slipway.errors import AuthError, ConfigError

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_PROJECT = re.compile(r"[a-z0-9.:-]+")
LOGIN = "gcloud auth application-default login"


class _Bearer(AuthBase):
    """A token as it is. Also keeps requests from putting a .netrc password in its place."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def __repr__(self) -> str:
        return "<bearer token>"


class _Keep(AuthBase):
    """Leaves the header that google-auth has set alone, where requests would look into .netrc."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


def authorised(environ: Mapping[str, str]) -> requests.Session:
    """An HTTP session that authorises each request.

    Raises AuthError without credentials, ConfigError for an invalid quota project.

    A plain token needs none of google-auth, whose import costs as much as a submission.
    """
    token = environ.get("GOOGLE_OAUTH_ACCESS_TOKEN", "").strip()
    target = environ.get("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "").strip()
    certificate = environ.get("GOOGLE_API_USE_CLIENT_CERTIFICATE", "").strip().lower() == "true"
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise AuthError(
            "GOOGLE_OAUTH_ACCESS_TOKEN is not an access token",
            why="it has characters that no token has: spaces, lines or letters beyond ASCII",
            fix="export it again, whole and alone: export GOOGLE_OAUTH_ACCESS_TOKEN=$(gcloud auth print-access-token)",
        )
    if token and not target and not certificate:
        session = requests.Session()
        session.auth = _Bearer(token)
    else:
        session = _google_session(token, target, certificate)
    quota_project = environ.get("GOOGLE_CLOUD_QUOTA_PROJECT", "").strip()
    if quota_project and not _PROJECT.fullmatch(quota_project):
        raise ConfigError(
            f"invalid GOOGLE_CLOUD_QUOTA_PROJECT: {quota_project!r}",
            fix="a project's id or number, or unset it",
        )
    if quota_project:
        session.headers["x-goog-user-project"] = quota_project
    return session


def _google_session(token: str, target: str, certificate: bool) -> requests.Session:
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import AuthorizedSession

    try:
        credentials = _google_credentials(token, target)
        session: requests.Session = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
        session.auth = _Keep()
        if certificate:
            session.configure_mtls_channel()  # type: ignore[attr-defined]
    except GoogleAuthError as problem:
        raise no_credentials(problem) from problem
    return session


def _google_credentials(token: str, target: str) -> Any:
    source: Any
    if token:
        from google.oauth2.credentials import Credentials as TokenCredentials

        source = TokenCredentials(token=token)  # type: ignore[no-untyped-call]
    else:
        import google.auth

        source, _ = google.auth.default(scopes=SCOPES)
    if not target:
        return source
    from google.auth import impersonated_credentials

    return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
        source_credentials=source, target_principal=target, target_scopes=list(SCOPES)
    )


def no_credentials(problem: Exception) -> AuthError:
    """What google-auth says, in our words; its message carries no secret."""
    return AuthError(
        "no usable Google Cloud credentials",
        why=str(problem).splitlines()[0] if str(problem) else type(problem).__name__,
        fix=f'{LOGIN}   (on the local cloud: eval "$(.venv/bin/python -m local env --as submitter)")',
    )
