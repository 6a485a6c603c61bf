"""Credentials, by one chain for program, hooks and CLI.

`GOOGLE_OAUTH_ACCESS_TOKEN`, else application default credentials; with `GOOGLE_IMPERSONATE_SERVICE_ACCOUNT` that
service account is impersonated by either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import urllib3

from slipway.base.errors import AuthError, ConfigError
from slipway.google.transport import Response, Transport, trust_named, trusted

if TYPE_CHECKING:
    import ssl

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_PROJECT = re.compile(r"[a-z0-9.:-]+")
LOGIN = "gcloud auth application-default login"
_TOKEN_SERVICE = (120.0, 120.0)
_TOKEN_RETRIES = 3


class _Bearer:
    def __init__(self, token: str) -> None:
        self._token = token

    def headers(self, method: str, url: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    def renewed(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "<bearer token>"


class _TokenService:
    """The transport of google-auth's requests for tokens, by the same proxies and authorities as every request."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> Response:
        """Send a request for a token. Raises google-auth's TransportError."""
        from google.auth.exceptions import TransportError

        data = body.encode() if isinstance(body, str) else body
        patience = (timeout, timeout) if timeout else _TOKEN_SERVICE
        try:
            return self._transport.request(
                method, url, data=data, headers=headers, timeout=patience, retries=_TOKEN_RETRIES
            )
        except urllib3.exceptions.HTTPError as problem:
            raise TransportError(problem) from problem  # type: ignore[no-untyped-call]


class _Login:
    """The authorisation by google-auth's credentials, which renew their token when it ends."""

    def __init__(self, credentials: Any, service: _TokenService) -> None:
        self.credentials = credentials
        self._service = service

    def headers(self, method: str, url: str) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        self.credentials.before_request(self._service, method, url, headers)
        return headers

    def renewed(self) -> bool:
        self.credentials.refresh(self._service)
        return True


def authorised(environ: Mapping[str, str]) -> Transport:
    """Return a transport that authorises each request.

    Raises AuthError without credentials, ConfigError for an invalid quota project. A plain token does without
    google-auth, whose import costs as much as a submission.
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
    payer, quota_project = "GOOGLE_BILLING_PROJECT", ""
    if environ.get("USER_PROJECT_OVERRIDE", "").strip().lower() == "true":  # as the provider takes it
        quota_project = environ.get(payer, "").strip()
    if not quota_project:
        payer = "GOOGLE_CLOUD_QUOTA_PROJECT"
        quota_project = environ.get(payer, "").strip()
    if quota_project and not _PROJECT.fullmatch(quota_project):
        raise ConfigError(
            f"invalid {payer}: {quota_project!r}",
            fix="a project's id or number, or unset it",
        )
    headers = {"x-goog-user-project": quota_project} if quota_project else {}
    trust = _with_client_certificate if certificate else trusted
    if token and not target and not certificate:
        return Transport(environ, _Bearer(token), headers)
    service = _TokenService(Transport(environ, trust=trust))
    maker = environ.get("GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT", "").rstrip("/")
    at = f"{maker}/projects/-/serviceAccounts/{target}:generateAccessToken" if maker else None
    return Transport(environ, _login(token, target, service, at), headers, trust)


def _login(token: str, target: str, service: Any, maker: str | None) -> _Login:
    """Return the login. `maker`: where tokens of `target` are made, else at Google's own endpoint."""
    import google.auth
    from google.auth import exceptions, impersonated_credentials
    from google.oauth2.credentials import Credentials

    try:
        if token:
            source: Any = Credentials(token=token)  # type: ignore[no-untyped-call]
        else:
            source, _ = google.auth.default(scopes=SCOPES, request=service)
        if target:
            source = impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
                source_credentials=source,
                target_principal=target,
                target_scopes=list(SCOPES),
                iam_endpoint_override=maker,
            )
    except exceptions.GoogleAuthError as problem:
        raise no_credentials(problem) from problem
    return _Login(source, service)


def _with_client_certificate(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return TLS with this device's or workload's certificate, where there is one. Raises AuthError."""
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.urllib3 import AuthorizedHttp

    http = AuthorizedHttp(None)  # type: ignore[no-untyped-call]
    try:
        if not http.configure_mtls_channel():  # type: ignore[no-untyped-call]
            return trusted(environ)
    except GoogleAuthError as problem:
        raise no_credentials(problem) from problem
    context: ssl.SSLContext = http.http.connection_pool_kw["ssl_context"]
    trust_named(context, environ)
    return context


def identity(environ: Mapping[str, str]) -> str:
    """Return the caller's name, as far as the environment tells."""
    token = "the identity of GOOGLE_OAUTH_ACCESS_TOKEN" if environ.get("GOOGLE_OAUTH_ACCESS_TOKEN") else ""
    return environ.get("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT") or token or "the application default credentials"


def no_credentials(problem: Exception) -> AuthError:
    """Return the error with google-auth's words, which carry no secret."""
    return AuthError(
        "no usable Google Cloud credentials",
        why=str(problem).splitlines()[0] if str(problem) else type(problem).__name__,
        fix=f'{LOGIN}   (on the local cloud: make … LAPTOP=1, or eval "$(make shell AS=submitter)")',
    )
