"""A YAML file as plain values, with the line of every key; its parts, read carefully; and its mistakes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from slipway.authoring.stack.secrets import without_secrets
from slipway.authoring.stack.yaml_loader import MOST_NODES, TAG, StackLoader
from slipway.base.errors import ConfigError, visible
from slipway.base.formatting import first_lines, short

T = TypeVar("T")
KeyPath = tuple[str | int, ...]
# No key takes a number that needs more than 64 bits, and Python can't even print one of some thousand digits.
LARGEST_NUMBER = 2**63 - 1
_PLAIN = (f"{TAG}map", f"{TAG}seq")
_KEYS = (f"{TAG}str", f"{TAG}merge")
_MOST_SHOWN = 50
_WHOLE = "write the character itself, or all of it as one escape, such as \\U0001F600"


@dataclass(frozen=True)
class FileMistake:
    """A mistake in a stack file."""

    #: Empty where values did not come from a file.
    file: str
    #: 0 where values did not come from a file.
    line: int
    key: str
    what: str
    fix: str

    def __post_init__(self) -> None:
        # A token may stand anywhere, also as a key; no message repeats one.
        for name in ("key", "what", "fix"):
            object.__setattr__(self, name, without_secrets(getattr(self, name)))

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}  " if self.file else ""
        key = f"{short(self.key, 200)}: " if self.key else ""
        return f"{where}{key}{self.what}\n  fix: {self.fix}"


class StackErrors(ConfigError):  # noqa: N818 - there are several, shown together
    """Every mistake of a stack file, in the order of its lines."""

    def __init__(self, mistakes: tuple[FileMistake, ...]) -> None:
        self.mistakes = mistakes
        count = f"{len(mistakes)} errors in the stack configuration\n" if len(mistakes) > 1 else ""
        super().__init__(count + "\n".join(in_words(mistakes)), fix="")  # Each mistake has a fix of its own.


def in_words(mistakes: Sequence[FileMistake]) -> list[str]:
    """Return lines for people: of very many mistakes the first ones, and the number of the others."""
    return first_lines(map(str, mistakes), _MOST_SHOWN)


@dataclass(frozen=True)
class Document:
    """A YAML file, read."""

    file: str
    values: Any
    #: The line (from 1) of each key and list item, by its path.
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    mistakes: tuple[FileMistake, ...] = ()
    #: The characters of each scalar that YAML does not read as text: `3.10`, `007`, `12:30`.
    written: Mapping[KeyPath, str] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """Return the line of the nearest enclosing key that has one; 0 without a file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1 if self.file else 0)

    def mistake(self, path: KeyPath, what: str, fix: str) -> FileMistake:
        return FileMistake(file=self.file, line=self.line(path), key=dotted(path), what=what, fix=fix)

    def places(self, words: Collection[str]) -> list[str]:
        """Return FILE:LINE of each key that ends in one of the words, and of each member of that name."""
        found, names = set[int](), {word.lower() for word in words}
        for path, line in self.lines.items():
            key, value = dotted(path), self.values
            with suppress(LookupError, TypeError):  # The engine's own values stand at no line.
                for name in path:
                    value = value[name]
            member = value.partition(":")[2].lower() if isinstance(value, str) else ""
            if member in names or any(f".{key}".endswith(f".{word}") for word in words):
                found.add(line)
        return [f"{self.file}:{line}" for line in sorted(found)]

    def lines_below(self, path: KeyPath) -> dict[str, str]:
        """Return FILE:LINE of a key and all keys below it, by the dotted path below it, which is empty for itself."""
        deep = len(path)
        return {
            dotted(place[deep:]): f"{self.file}:{line}" for place, line in self.lines.items() if place[:deep] == path
        }


def load(path: Path, *, shown_as: str | None = None) -> Document:
    """Read a file; errors of YAML are in the mistakes. Raises ConfigError when it can't be read."""
    file = shown_as or str(path)
    try:
        content = path.read_bytes()
        return from_text(content.decode(), file)
    except FileNotFoundError:
        raise ConfigError(f"there is no stack file {path}", fix="slipway check lists the stacks that exist") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(f"can't read {path}", why=why, fix="a file that you may read") from error
    except UnicodeDecodeError as error:
        what = f"can't read the byte {content[error.start]:#04x} as UTF-8"
        line = content.count(b"\n", 0, error.start) + 1
        return Document(file, {}, mistakes=(FileMistake(file, line, "", what, "save the file as UTF-8"),))


def pulumi_project(folder: Path) -> str:
    """Return the name of the Pulumi project in a folder; empty where there is none that can be read."""
    return _project_file(folder)["name"].of(str) or ""


def pulumi_backend(folder: Path) -> str:
    """Return the address of the backend that the Pulumi project in a folder names; empty if it names none."""
    return _project_file(folder)["backend"]["url"].of(str) or ""


def _project_file(folder: Path) -> DocumentPart:
    try:
        return DocumentPart(load(folder / "Pulumi.yaml"))
    except ConfigError:
        return DocumentPart(Document("", {}))


def from_text(text: str, file: str, loaders: type[StackLoader] = StackLoader) -> Document:
    try:
        loader = loaders(text)
        node = loader.get_single_node()
        reader = _Reader(loader, file)
        values = None if node is None else reader.value(node, ())
    except (yaml.YAMLError, RecursionError) as error:
        return Document(file, {}, mistakes=(_syntax(error, text, file),))
    return Document(file, values, reader.lines, tuple(reader.mistakes), reader.written)


class _Reader:
    """A reader that walks the composed nodes once, so that keys keep their marks."""

    def __init__(self, loader: StackLoader, file: str) -> None:
        self.loader = loader
        self.lines: dict[KeyPath, int] = {}
        self.written: dict[KeyPath, str] = {}
        self.document = Document(file, None, self.lines)
        self.mistakes: list[FileMistake] = []
        self.open: set[int] = set()
        #: Mappings into which others were merged, so that equal keys are no mistake: an alias is read several times.
        self.merged: set[int] = set()
        self.count = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.count += 1
        if self.count > MOST_NODES:
            raise yaml.YAMLError("its aliases expand to more than a stack file can hold")
        if id(node) in self.open:
            raise yaml.constructor.ConstructorError(None, None, "an alias that contains itself", node.start_mark)
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN:
                raise yaml.constructor.ConstructorError(None, None, f"the tag {node.tag}", node.start_mark)
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node, path)
        finally:
            self.open.discard(id(node))

    def _name(self, key: yaml.Node) -> str:
        """Return a mapping's key. Raises ConstructorError for one that is no scalar, unread: aliases may swell it."""
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key that is not a word", key.start_mark)
        return str(key.value).encode(errors="replace").decode()

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        """Return the scalar's value; None, with a mistake, where it is not valid for the type it looks like."""
        try:
            value = self.loader.construct_object(node)
        except (ValueError, LookupError, AttributeError):  # the errors of the library's parsers of scalars
            kind = node.tag.rpartition(":")[2]
            what, fix = f"looks like {kind}, but is not a valid one", "put it in quotes if it is text"
            if kind == "timestamp":
                what, fix = "looks like a date, and there is no such day", f"2027-01-10, for example; {fix}"
        else:
            if isinstance(value, str):
                return self._text(value, path)
            self.written[path] = str(node.value)
            if not isinstance(value, int) or abs(value) <= LARGEST_NUMBER:
                return value
            what, fix = f"a number of {len(node.value)} digits", "a smaller one"
        self._wrong(path, what, fix)
        return None

    def _text(self, text: str, path: KeyPath) -> str:
        """Return a text. An escape of half a character, which YAML and JSON can spell, is a mistake."""
        whole = text.encode(errors="replace").decode()
        if whole != text:
            half = next(character for character, shown in zip(text, whole, strict=True) if character != shown)
            what = f"the escape {visible(half)} is half of a character"  # The text itself may be secret.
            self._wrong(path, what, _WHOLE)
        return whole

    def _wrong(self, path: KeyPath, what: str, fix: str) -> None:
        self.mistakes.append(self.document.mistake(path, what, fix))

    def _item(self, node: yaml.Node, path: KeyPath) -> Any:
        self.lines[path] = node.start_mark.line + 1
        return self.value(node, path)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        first: dict[str, int] = {}
        for key, _ in node.value:
            name, line = self._name(key), key.start_mark.line + 1
            here = (*path, name)
            self.lines[here] = line
            self._text(key.value, here)
            if name in first and name != "<<" and id(node) not in self.merged:
                self._wrong(here, f"appears twice, on lines {first[name]} and {line}", "keep one of them")
            elif key.tag not in _KEYS:
                self._wrong(here, f"looks like {key.tag.rpartition(':')[2]}, and a key is text", "put it in quotes")
            first.setdefault(name, line)
        self.loader.flatten_mapping(node)
        self.merged.add(id(node))
        values: dict[str, Any] = {}
        # Of several equal keys the last counts; merged keys come before the mapping's own.
        for name, (key, child) in {self._name(key): (key, child) for key, child in node.value}.items():
            self.lines[*path, name] = key.start_mark.line + 1
            values[name] = self.value(child, (*path, name))
        return values


def dotted(path: KeyPath) -> str:
    """Return the key path for people, without the file's own `config`."""
    parts = path[1:] if path[:1] == ("config",) else path
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _syntax(error: Exception, text: str, file: str) -> FileMistake:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        what = f"not YAML: the character #x{error.character:04x}, and special characters are not allowed"
        return FileMistake(file, line, "", what, "delete it; an editor may not show it")
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else 1
        fix = "indent with spaces; a tab can't start a line" if "\\t" in what else "correct this line, or one above it"
        return FileMistake(file, line, "", f"not YAML: {what}", fix)
    if isinstance(error, RecursionError):
        return FileMistake(file, 1, "", "not YAML that is read here: it is nested too deeply", "flatten it")
    return FileMistake(file, 1, "", f"not YAML: {error}", "correct the file")


class DocumentPart:
    """A value at a path. Findings are collected in one list, shared by every part of a document."""

    def __init__(self, document: Document, path: KeyPath = (), mistakes: list[FileMistake] | None = None) -> None:
        self.document = document
        self.path = path
        self.mistakes: list[FileMistake] = [] if mistakes is None else mistakes

    @property
    def value(self) -> Any:
        here = self.document.values
        for part in self.path:
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                return None
        return here

    @property
    def written(self) -> str | None:
        """The characters in the file of a scalar that YAML does not read as text; None for any other value."""
        return self.document.written.get(self.path)

    def __getitem__(self, key: str | int) -> DocumentPart:
        return DocumentPart(self.document, (*self.path, key), self.mistakes)

    def items(self) -> Iterator[tuple[str, DocumentPart]]:
        """Yield the children of a mapping; none for any other value."""
        if isinstance(self.value, dict):
            yield from ((str(key), self[key]) for key in self.value)

    def entries(self) -> Iterator[DocumentPart]:
        """Yield the items of a list; none for any other value."""
        if isinstance(self.value, list):
            yield from (self[index] for index in range(len(self.value)))

    def of(self, kind: type[T]) -> T | None:
        """Return the value when it has this type. A bool is not an int."""
        value = self.value
        return value if isinstance(value, kind) and not (kind is int and isinstance(value, bool)) else None

    def wrong(self, what: str, fix: str) -> None:
        self.mistakes.append(self.document.mistake(self.path, what, fix))
