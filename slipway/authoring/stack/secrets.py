"""Secrets in plain text, recognised by name or form, and hidden."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from slipway.base.formatting import quoted, short

FORMS = (
    # Its lines too, which have no form of their own where a text is hidden.
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY[\w+/=\s\\-]*"), "a private key"),
    (re.compile(r"\bya29\.[\w-]{8,}"), "an access token"),
    (re.compile(r"\b1//[\w-]{20,}"), "a refresh token"),
    (re.compile(r"\bAIza[\w-]{30,}"), "an API key"),
    (re.compile(r"\bGOCSPX-[\w-]{8,}"), "a client secret"),
    (re.compile(r"(?:(?<![\w-])eyJ[\w-]{10,}|\beyJ[\w-]{10,200})\.eyJ[\w-]{10,}\."), "a signed token"),
    (re.compile(r'"type"\s*:\s*"service_account"'), "a service account key"),
    (
        re.compile(
            r"\bhf_[A-Za-z0-9]{16,}|(?<![\w-])sk-[\w-]{0,40}?[A-Za-z0-9]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bA[KS]IA[A-Z0-9]{12,}"
            r"""|(?i:\bauthorization["']?\s*[:=,]\s*["']?(?:bearer|basic|token)\s+(?=[^\s"']*[\d=])[\w.~+/=-]{8,})"""
            r"|\bxox[abeprs]-[\w-]{10,}|\bxapp-\d[\w-]{10,}|\bBearer [\w.~+/-]{20,}|://([^/\s:@]*):(?!\$[{(]|\1@)[^/\s:@]+@"
            r"|https?://(?=\w*\d)[\w-]{20,}@|\bgl(?:pat|dt|rt|ptt|cbt)-[\w-]{10,}|\b(?:npm|r8|gsk|[sr]k_(?:live|test)|whsec|lin_api)_[A-Za-z0-9+/]{20,}"
            r"|\b(?:dckr_pat|lsv2_[ps][tk])_[\w-]{20,}|\bnvapi-[\w-]{20,}|\bpypi-AgE[\w-]{10,}|\bdapi[0-9a-f]{32}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
            r"|\b(?:hooks\.slack\.com/\w+|discord(?:app)?\.com/api/webhooks|webhook\.office\.com/webhookb2)/[\w@/-]{20,}"
            r"|\bhv[sbr]\.[\w-]{20,}|\bdp\.(?:pt|st|ct|sa|scim)\.[\w.-]{20,}|\bdo[opr]_v1_[0-9a-f]{20,}|\bAT(?:AT|CT)T[\w-]{16,}|\bfigd_[\w-]{20,}"
            r"|\bsbp_[0-9a-f]{20,}|\bAGE-SECRET-KEY-1[0-9A-Z]{20,}|\bGOOG1E[A-Z0-9]{20,}|\b\d{8,10}:AA[\w-]{30,}|\b(?:secret|ntn)_[A-Za-z0-9]{40,}"
            r"|\b(?:dl\.cloudsmith\.io|(?:pypi|pip)\.fury\.io|packagecloud\.io/priv|conda\.anaconda\.org/t)/(?=[A-Za-z_-]*\d)[\w-]{12,}/"
            r"|[?&](?i:sig|X-(?:Goog|Amz)-Signature)=(?=[A-Za-z_%+/=-]*\d)[\w%+/=-]{16,}"
        ),
        "a key to another service",
    ),
)
# `max_tokens`, `token_type` and `password_file` have no secret: only a name's last word counts, before words that tell
# which of several, or how it is written: `API_TOKEN_V2`, `PRIVATE_KEY_B64`.
_NAMES = re.compile(
    r"(?:(?i:(?:^|[_.-])(?:token|secret|password|passwd|passphrase|pwd|credentials?|secret_?data|connection_?string"
    r"|encryption_?salt|encrypted_?key|(?:api|access|account|private|secret)[_-]?key))"
    r"|[A-Z0-9](?:TOKEN|SECRET|PASSWORD|CREDENTIALS?|PASSWD|PWD|_PASS)"
    r"|[a-z0-9](?:Token|Secret|Password|Credentials?|(?:Api|Access|Account|Private|Secret)Key))"
    r"(?:[_-]?\d{1,9}|[_-]?[vV]\d{1,9}|[_-](?i:value|b64|base64|base|pem|json|prod|production|dev|staging|old|new|prev|previous|fallbacks?))*$"
)
# `JUDGE_KEY`, `--auth`; such a name may be a column's or a mode's as well, with a plain word or a number.
_KEY = re.compile(
    r"(?i)(?:[_-]key|(?:^|[_-])(?:auth|pass|passwords|creds)|(?-i:(?:^|API_|ACCESS_|AUTH_)(?:TOKENS|SECRETS)|^[A-Z0-9]*KEY|^(?:DB|PG|SQL|MYSQL|REDIS|SMTP|FTP|USER|ADMIN)PASS))[_-]?\d*$"
)
_WORD = re.compile(r"[A-Za-z]+([ ._/-][A-Za-z]+)*|oauth2|[\d.,e+-]+[kKMBT]?|https?://.*")
# `curl -u ada:X`; not `--user 1000:1000`, two numbers, and `--user group:ml@acme.example`, a member.
_LOGIN_FLAG = re.compile(r"[sSfLkv]*u|(?:proxy-)?user")
_LOGIN_VALUE = re.compile(r"(?!(?:user|group|domain|serviceAccount):)[^\s:/]+:(?!\d+$|\$)[^/].*")
# `GITHUB_PAT=X`, a personal access token; such a name may be a pattern's as well.
_TOKEN_NAME, _TOKEN = re.compile(r"[A-Z]_PAT$"), re.compile(r"(?=\D*\d)[A-Za-z0-9]{12,}")
# `curl -uada:X` and `mysql -pX`, without a space, `auth=("ada", "X")`, and `login ada password X` of a netrc.
_GLUED = re.compile(
    r"(?:\bcurl\b[^\n|;&]{0,200}?\s-u[^\s:=]{1,80}:|\b(?:mysql|mariadb)\b[^\n|;&]{0,200}?\s-p|\bsshpass\s{1,9}-p\s{0,9}"
    r"|\b(?:auth\s{0,9}=\s{0,9}|\w{0,20}BasicAuth)\(\s{0,9}[\"'][^\"'\n]{0,80}[\"'],\s{0,9}[bfru]{0,2}(?=[\"'])"
    r"|\blogin\s{1,9}\S{1,80}\s{1,9}password\s{1,9}|^\s{0,9}password\s{1,9}(?=\S+\s*$))[\"']?([^\s\"';&|]{4,})"
)
# References in place of a value, and words of a language model's vocabulary (`<pad>`).
_REFERENCE = re.compile(
    r"\$[{(].*|\{\{?\s{0,9}[A-Za-z_].*|(?-i:\$[A-Z_][A-Z0-9_]*)|<[^<>]*>|\[\w*\]|projects/[^/]+/secrets/.*|gs://.*|/.*|[~.]{1,2}/.*|[\w./-]+\.json|true|false|\d{0,3}|…",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"(?i)(^|[_-])passw(or)?d$|(?-i:PASSWORD$)")
_RANDOM = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w+/=.~-]{20,}")
# `--key X` and `--key=X`, as an argument or in a shell's text, and `KEY=X`. A shell's line may have several.
_ASSIGNED = re.compile(
    r"""(?<![\w-])(?:(--?[A-Za-z][\w.-]{0,60})(?:=|\s{1,9}(?!-|["']?[A-Za-z_]\w{0,60}=))|([A-Za-z_]\w{0,60})=)"""
    r"""["']?([^\s"';&|]+)"""
)
# `wandb login KEY`, and `wandb.login(key="KEY")` of a program in a command.
_LOGIN = re.compile(
    r"""\blogin(?:\(\s*(?:\w+\s*=\s*)?["']|\s+(?:--?[\w-]+(?:[= ]https?://\S+)?\s+)*["']?)([\w+/=.~-]{20,})"""
)
# `"password": "X"` of JSON, and `password: str = "X"`, `getenv("PASSWORD") or "X"` or `"--password", "X"` of a program.
_QUOTED = re.compile(
    r"""(?<![\w-])([\w-]{1,60})["']?\]?\s{0,9}(?::=|[:,]|!=|(?::[\w |.,\[\]]{1,60})?={1,2}|\)\s{0,9}or\b)\s{0,9}"""
    r"""(?:[^\n#"'=]{0,80}(?:["'][^\n"']{0,80}["'][^\n#"']{0,80})?\bor\s{1,9})?(?:(?:Field|SecretStr)\(\s{0,9})?(?:default=)?[(\[]?\s{0,9}"""
    r"""(?=[bBfFrRuU]{0,2}(?:\"{3}|'{3}|["'])([^"']+)|(?<!,)(?![a-z_]+\.[a-z_.]+\s*$)([\w./+=:!@#$%^&*~?-]{8,})\s*$)"""
)
# `add_argument("--token", type=str, default="X")`, `- name: TOKEN` with its `value: X`, `"X-Api-Key: X"`, `?token=X`.
_APART = re.compile(
    r"""(?:["']-{1,2}([\w-]{1,60})["'],[^\n]{0,200}?\bdefault\s{0,9}=|["']([\w-]{1,60}):(?=\s{0,9}[^\s"']+["'])|[?&]([\w-]{1,60})="""
    r"""|\bname["']?\s{0,9}[:=]\s{0,9}["']?([\w-]{1,60})["']?,?\s{1,9}["']?value["']?\s{0,9}[:=])\s{0,9}[bBfFrRuU]{0,2}["']?([^\s"',}&]+)"""
)
# What stands after a name whose value is on the next line: the mark of a block of YAML, and a comment.
_BEFORE_VALUE = re.compile(r"(?:\s{0,9}[>|][+-]?)?\s{0,9}(?:\s#[^\n]*)?$")
_PART_OF_VALUE = re.compile(r"""\s*[bBfFrRuU]{0,2}(["']).*\1\s*\\?""")
# Random text alone on a line of code: a value below its name, and a private key's inner lines.
_ALONE_RANDOM = re.compile(
    r"""[\s(\[]*[bBfFrRuU]{0,2}["']{0,3}(?=[A-Za-z+/]*\d)(?=[\d+/]*[A-Za-z])[A-Za-z0-9+/]{24,200}={0,2}(?:\\n)?["']{0,3}[\s,+)\]\\]*"""
)
# `https://admin:admin@acme.example`, which an example may have, but no index of packages, and a token in its path.
_IN_ADDRESS = re.compile(
    r"://[^/\s@]{0,200}:(?!\$[{(])[^/\s]{1,200}@|(?<=[\w-]/)(?=[A-Za-z]{0,99}\d)(?=\d{0,99}[A-Za-z])[A-Za-z0-9]{16,48}(?=/|$)"
)
_LONGEST = 4096
"""The characters that are searched: no key is longer, and a value of megabytes may be made to take hours."""
_NEAR = 256
"""The characters of a line that may be of the same expression as the line below it."""
_CONFIGURATION = re.compile(
    r"(.*/)?(\.env(\..*)?|.*\.(env|json|pem|key|ini|cfg|toml|ya?ml|tfvars)"
    r"|\.(envrc|netrc|npmrc|pypirc|pgpass|git-credentials)|_?netrc|credentials|token|wandb/settings|id_(rsa|ed25519))"
)
"""Files in which people and tools keep keys; a program's text may have an example of one."""
_VARIABLES = re.compile(r"(.*/)?(\.env(\..*)?|.*\.env|\.envrc|credentials)")
_ALL_VARIABLES = re.compile(
    rb"(?:[ \t]*(?:#[^\n]*|(?:export[ \t]+)?[A-Z_][A-Z0-9_]*[ \t]*=(?!=)[^\n]*)?(?:\r?\n|\Z))+", re.DOTALL
)
"""A file of any name that has nothing but environment variables, as `.env` has."""
_ALONE = re.compile(rb"\s*[\w.-]{20,200}\s*")
"""A file of one word, as those in which people keep one key."""
_EXAMPLE = re.compile(r"\.(example|sample|template|dist)(\.txt)?$")
_MARKS = b"\xff\xfe\xef\xbb\xbf"
"""The bytes with which editors of Windows begin a text."""
_NETRC = re.compile(r"\bpassword\s+\S+")
_OF_TOOLS = {
    "kaggle.json": re.compile(r'"key"\s*:\s*"[0-9a-f]{32}"'),
    ".netrc": _NETRC,
    "_netrc": _NETRC,
    "netrc": _NETRC,
}
"""Keys without a form of their own, by the files in which tools keep them."""
_PROGRAM = re.compile(r".*\.(py|ipynb|sh|bash)")
_NOTES = re.compile(r".*\.(txt|md|rst)")
_MOST_READ = 2**20
# `api_key: 0123…`, `os.environ["WANDB_API_KEY"] = "0123…"`, and the same in a notebook's JSON: no word, path or name.
_WRITTEN_OUT = re.compile(
    r"""(?<![\w-])([A-Za-z_][\w-]{0,60})\\?["']?\]?\s{0,9}[=:,]\s{0,9}\\?["']?"""
    r"""((?:hf_|gh[pousr]_|sk-[\w-]{0,40}?)[A-Za-z0-9]{16,}"""
    r"""|(?=[A-Za-z+/]*\d)(?=[\d+/]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9+/]{23,}=*)"""
    r"""(?![\w.(\[/-])"""
)
_LONG, _HINT = re.compile(r"[A-Za-z0-9+/]{16}"), re.compile(r"(?i)key|token|secret|passw|credential")
_VARIABLE_KEY = re.compile(r"[A-Z0-9_]+_KEY")
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY")
_LARGEST_FILE = 64 * 1024
KEEP = "put it into Secret Manager (`secrets=`), and revoke it"


def has_form(text: str) -> bool:
    """Tell whether a text has something in it that has a secret's form."""
    return any(form.search(text[:_LONGEST]) for form, _ in FORMS)


def looks_secret(value: str, name: str = "") -> bool:
    """Tell whether a value looks secret, or its name is a secret's; `NAME__SECRET` names a reference, and may."""
    return has_form(value) or _is_named(value[:_LONGEST], name)


def _is_named(value: str, name: str) -> bool:
    if name.endswith("__SECRET") or _REFERENCE.fullmatch(value):
        return False
    if _LOGIN_FLAG.fullmatch(name):
        return bool(_LOGIN_VALUE.fullmatch(value))
    if _TOKEN_NAME.search(name):
        return bool(_TOKEN.fullmatch(value))
    return bool(_NAMES.search(name)) or (bool(_KEY.search(name)) and not _WORD.fullmatch(value))


def without_secrets(text: str) -> str:
    """Return a text with what certainly is a secret hidden, by its form."""
    for form, _ in FORMS:
        text = form.sub("(hidden)", text)
    return text


def without_named(text: str) -> str:
    """Return a tool's message with what is a secret by its form or its name hidden, and each line's beginning."""
    return "\n".join(_line_without(line[:_LONGEST]) for line in without_secrets(text).split("\n"))


def _line_without(line: str) -> str:
    told, shown_from = "", 0
    for start, end in sorted(_spans(line)):
        if start >= shown_from:
            told += f"{line[shown_from:start]}(hidden)"
        shown_from = max(shown_from, end)
    return told + line[shown_from:]


def _spans(line: str) -> Iterator[tuple[int, int]]:
    """Yield the places of values whose names are a secret's. A single word may tell what is wrong: `token: expired`."""
    for match in chain.from_iterable(each.finditer(line) for each in (_ASSIGNED, _QUOTED, _APART, _GLUED, _LOGIN)):
        *names, value = filter(None, match.groups())
        start, end = match.span(match.lastindex or 0)
        ends_line = match.re is _QUOTED and not match[2] and _WORD.fullmatch(value)
        if not ends_line and (not names or _is_named(value, names[0].lstrip("-"))):
            yield start, end


def address_has_secret(text: str) -> bool:
    """Tell whether an index of packages, or a package's address, has a secret in it."""
    return has_form(text) or bool("://" in text and _IN_ADDRESS.search(text[:_LONGEST]))


def assigned(text: str) -> list[tuple[str, str]]:
    """Return the flags and variables that a command line sets, each with its value, and keys to log in with."""
    pairs = [(flag or variable, value) for flag, variable, value in _ASSIGNED.findall(text[:_LONGEST])]
    glued = (("PASSWORD", value) for value in _GLUED.findall(text[:_LONGEST]))
    return [*pairs, *glued, *(("API_KEY", value) for value in _LOGIN.findall(text[:_LONGEST]))]


def has_secret(text: str, name: str = "") -> bool:
    """Tell whether a value looks secret, or sets something in it that does."""
    # A call of a program has `token=…` in small letters.
    variables = ((key, value) for key, value in assigned(text) if key.startswith("-") or not key.islower())
    found = (*_QUOTED.finditer(text[:_LONGEST]), *_APART.finditer(text[:_LONGEST]))
    entries = (tuple(filter(None, match.groups())) for match in found)
    pairs = ((key.lstrip("-"), value) for key, value in (*variables, *entries))
    return looks_secret(text, name) or any(_is_named(value, key) for key, value in pairs)


def lines_have_secret(lines: Sequence[str], above: Sequence[str] = ()) -> bool:
    """Tell whether lines of code have a secret, whose name may stand in the lines `above` them."""
    opening = next((line for line in reversed(above) if line.strip() and not _PART_OF_VALUE.fullmatch(line)), "")
    pairs = pairwise((opening, *(line for line in lines if line.strip())))
    ends = ((_BEFORE_VALUE.sub("", name[-_NEAR:]), value.strip()[:_NEAR]) for name, value in pairs)
    below = (has_secret(f"{name} {value}") and not has_secret(name) for name, value in ends)
    return any(map(has_secret, lines)) or any(map(_ALONE_RANDOM.fullmatch, lines)) or any(below)


def paired(words: Iterable[str]) -> tuple[str, ...]:
    """Return arguments in which a secret is one with its flag, `--token=…`, by which it is known."""
    told: list[str] = []
    for word in words:
        flag = told[-1] if told and "=" not in told[-1] else ""
        if flag.startswith("-") and not word.startswith("-") and looks_secret(word, flag.lstrip("-")):
            told[-1] = f"{flag}={word}"
        else:
            told.append(word)
    return tuple(told)


def files_with_keys(files: Mapping[str, bytes]) -> list[str]:
    """Return the files of configuration that have something in them that looks like a key."""
    return sorted(name for name, content in files.items() if _has_key(name, content))


def programs_with_keys(files: Mapping[str, bytes]) -> list[str]:
    """Return the scripts, notebooks and notes that set or log in with what looks like a key; it may be an example of
    one."""
    programs = {
        name: content[:_MOST_READ]
        for name, content in files.items()
        if _PROGRAM.fullmatch(name) or (_NOTES.fullmatch(name) and len(content) <= _LARGEST_FILE)
    }
    return sorted(name for name, content in programs.items() if _writes_key(content.decode(errors="replace")))


def _writes_key(text: str) -> bool:
    return _is_written_out(text) or any(map(_RANDOM.fullmatch, _LOGIN.findall(text)))


def _is_written_out(text: str) -> bool:
    """Tell whether a name of a secret has a value that looks random; the lines that have neither are read fast."""
    lines = [line for line in text.splitlines() if _LONG.search(line) and _HINT.search(line)]
    found = (each for line in lines for each in _WRITTEN_OUT.findall(line))
    secret = (value for name, value in found if _NAMES.search(name) or _VARIABLE_KEY.fullmatch(name))
    return not all(map(_REFERENCE.fullmatch, secret))


def _has_key(name: str, content: bytes) -> bool:
    if _PRIVATE_KEY.match(content):
        return True
    if len(content) > _LARGEST_FILE or _EXAMPLE.search(name):
        return False
    content = content.lstrip(_MARKS).replace(b"\0", b"")  # PowerShell writes UTF-16.
    of_variables = not _PROGRAM.fullmatch(name) and bool(_ALL_VARIABLES.fullmatch(content))
    if not (of_variables or _ALONE.fullmatch(content) or _CONFIGURATION.fullmatch(name)):
        return False
    text = content.decode(errors="replace")
    own = _OF_TOOLS.get(name.rpartition("/")[2])
    if own and own.search(text):
        return True
    variables = of_variables or bool(_VARIABLES.fullmatch(name))
    return _is_written_out(text) or any(
        has_form(line)
        or (variables and any(looks_secret(value, key) for key, value in assigned(re.sub(r"\s*=\s*", "=", line))))
        for line in text.splitlines()
    )


def certainly_secret(value: str, name: str) -> bool:
    """Tell whether a value is no word of a vocabulary or a column, which a name such as `pad_token` may have."""
    return looks_secret(value, name) and bool(_PASSWORD.search(name) or _RANDOM.fullmatch(value))


def shown(value: Any, text: str = "the text ") -> str:
    """Return a value as a message may repeat it, short, and hidden where it may be secret. `text`: words before it."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if has_form(value):
            return "hidden"
        return f"{text}{quoted(value)}"
    return short(str(value))
