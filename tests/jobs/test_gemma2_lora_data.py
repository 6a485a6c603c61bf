"""gemma2-lora's data: texts, chats as JSONL, datasets of the hub; and bases in fewer bits. # Z1"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from jobs.gemma2_lora import data, task
from jobs.gemma2_lora.examples import UNLEARNT, Example, encode
from jobs.gemma2_lora.options import options
from jobs.gemma2_lora.records import Record
from jobs.gemma2_lora.trouble import TroubleError

from .conftest import TORCH_ON_GPUS, environ, interpreter
from .hub import GOOD, STRANGER, serving

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

CHAT = [
    {"messages": [{"role": "user", "content": "Sun?"}, {"role": "assistant", "content": "A star."}]},
    {"messages": [{"role": "user", "content": "Moon?"}, {"role": "model", "content": "A rock."}]},
]


def jsonl(values: Sequence[Any]) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def prepared(folder: Path, content: bytes, name: str = "chat.jsonl", *more: str) -> list[Record]:
    (folder / name).write_bytes(content)
    records = data.read(options([f"--data={folder / name}", *more], {}), folder / "data", {})
    assert isinstance(records, list)
    return records


def refused(folder: Path, content: bytes, name: str = "chat.jsonl", *more: str) -> str:
    with pytest.raises(TroubleError) as error:
        prepared(folder, content, name, *more)
    return str(error.value)


def test_gemma2_lora_takes_chats_questions_with_answers_and_texts(tmp_path: Path) -> None:
    pair, tuning = {"prompt": "Sun?", "completion": "A star."}, {"input_text": "Sun?", "output_text": "A star."}
    values = [*CHAT, pair, tuning, {"text": "All of it."}]
    candidates = prepared(tmp_path, b"\xef\xbb\xbf" + jsonl(values).replace(b"\n", b"\r\n\n"))
    assert [example.turns for example in candidates] == [
        (("user", "Sun?"), ("assistant", "A star.")),
        (("user", "Moon?"), ("assistant", "A rock.")),
        *[(("user", "Sun?"), ("assistant", "A star."))] * 2,
        (),
    ]
    assert (candidates[4].text, candidates[4].where) == ("All of it.", "line 9")


def test_gemma2_lora_passes_over_fields_without_a_value(tmp_path: Path) -> None:
    """Parquet has all fields of all forms in every record."""
    values = [
        {"messages": None, "text": "Sun."},
        {"messages": None, "prompt": None, "completion": None, "input_text": "Sun?", "output_text": "A star."},
    ]
    text, pair = prepared(tmp_path, jsonl(values))
    assert text.text == "Sun." and pair.turns == (("user", "Sun?"), ("assistant", "A star."))


def test_gemma2_lora_reads_what_editors_and_tables_write(tmp_path: Path) -> None:
    assert len(prepared(tmp_path, jsonl(CHAT), "CHAT.JSONL")) == 2
    assert len(prepared(tmp_path, b"\xef\xbb\xbf" + json.dumps(CHAT).encode(), "chat.json")) == 2
    (tmp_path / "text.txt").write_bytes(b"\xef\xbb\xbfonce\r\nupon")
    assert data.read(options([f"--data={tmp_path}/text.txt"], {}), tmp_path / "data", {}) == "once\nupon"


@pytest.mark.parametrize(
    ("name", "content"),
    [("chat.jsonl.gz", b"\x1f\x8b\x08\x00"), ("text.txt", "Grüße".encode("latin-1")), ("t", "text".encode("utf-16"))],
)
def test_gemma2_lora_learns_no_text_that_is_none(tmp_path: Path, name: str, content: bytes) -> None:
    assert f"{name} is no text" in refused(tmp_path, content, name)


def test_gemma2_lora_takes_the_field_that_is_named(tmp_path: Path) -> None:
    values = [{"story": "Once."}, {"story": CHAT[0]["messages"]}]
    candidates = prepared(tmp_path, json.dumps(values).encode(), "stories.json", "--column=story")
    assert [(example.where, example.text, len(example.turns)) for example in candidates] == [
        ("item 1", "Once.", 0),
        ("item 2", "", 2),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"messages": [', "is not JSON: Expecting value (column 15)"),
        (b'{"text": "\xff"}', "is not UTF-8"),
        (b'{"id": 1, "text": " "}', "has an empty 'text'"),
        (b'{"text": 3}', "has a 'text' that is neither text nor a list"),
        (b'{"id": 1, "say": "x"}', "nor 'text' (-p column): it has 'id', 'say'"),
        (b'{"messages": ["hello"]}', "has a message 1 that is no JSON object"),
        (b'{"messages": [{"role": "tool", "content": "x"}]}', "has a message 1 of role 'tool'"),
        (b'{"messages": [{"role": "system", "content": "x"}]}', "has a message 1 of the system, which Gemma 2"),
        (b'{"messages": [{"role": "assistant", "content": "x"}]}', "has a message 1 out of turn"),
        (b'{"messages": [{"role": "user", "content": "x"}]}', "ends without the assistant's answer"),
        (b'{"prompt": "x", "completion": null}', "has a message 2 without content"),
        (b'{"messages": [{"role": ["user"], "content": "x"}]}', "has a message 1 of role \"['user']\""),
        (b'{"text": "cut \\ud83d"}', "surrogates not allowed"),
        (b'{"prompt": "x", "completion": "cut \\ud83d"}', "surrogates not allowed"),
    ],
)
def test_gemma2_lora_names_a_bad_line_and_what_is_wrong_with_it(tmp_path: Path, line: bytes, why: str) -> None:
    told = refused(tmp_path, jsonl(CHAT) + b"\n" + line)
    assert f"1 of 3 records of {tmp_path}/chat.jsonl" in told
    assert "why: line 4 " in told and why in told


def test_gemma2_lora_names_ten_bad_lines_at_most_and_none_of_an_empty_file(tmp_path: Path) -> None:
    told = refused(tmp_path, b"{}\n" * 14 + jsonl(CHAT))
    assert "14 of 16" in told and "line 10 has" in told and "line 11" not in told and "and 4 more" in told
    assert "holds no records" in refused(tmp_path, b"\n\n")


def test_gemma2_lora_says_which_bucket_is_closed_to_it(
    cloud: LocalCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": "texts-of-others"})
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{cloud.url}/t/{cloud.token('submitter')}")
    assert task.main(["--data=gs://texts-of-others/diary.txt", f"--output={tmp_path}"], {}) == 1
    told = capsys.readouterr().err
    assert "error: gs://texts-of-others can't be used" in told
    assert "does not have storage.objects.get access" in told and "roles/storage.objectUser" in told
    assert "Traceback" not in told


def test_gemma2_lora_takes_the_files_of_a_dataset_that_are_called_as_the_split() -> None:
    guanaco = ["README.md", "best_replies_train.jsonl", "best_replies_eval.jsonl"]
    assert data.chosen(guanaco, "train") == ["best_replies_train.jsonl"]
    shards = ["data/test-0-of-1.parquet", "data/train-1-of-2.parquet", "data/train-0-of-2.parquet", "training.json"]
    assert data.chosen(shards, "train") == ["data/train-0-of-2.parquet", "data/train-1-of-2.parquet"]
    assert data.chosen(["fr/train.json", "de/train.json"], "de/train") == ["de/train.json"]
    assert data.chosen(["train.parquet", "train.jsonl"], "train") == ["train.jsonl"]
    assert data.chosen(["dataset_infos.json", "all.jsonl"], "train") == ["all.jsonl"]
    assert data.chosen(["a.jsonl", "b.jsonl"], "train") == []


class Letters:
    """A tokenizer with a token for each letter, and a chat template, which `template` takes away."""

    bos_token_id, eos_token_id = 1, 2

    def __init__(self, template: str = "there") -> None:
        self.chat_template = template

    def __call__(self, text: str, *, add_special_tokens: bool) -> Mapping[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": [ord(letter) for letter in text]}

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, str]], *, tokenize: bool, add_generation_prompt: bool = False
    ) -> str:
        assert not tokenize
        return (
            "".join(f"<{message['role'][0]}>{message['content']};" for message in messages)
            + "<a>" * add_generation_prompt
        )


def learnt(example: Example) -> str:
    assert all(label in (token, UNLEARNT) for token, label in zip(example.tokens, example.labels, strict=True))
    return "".join("_" if label == UNLEARNT else chr(label) for label in example.labels)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> type[Exception]:
    """What chat templates raise. The job's environment has jinja2, the tests' own need not."""
    monkeypatch.setitem(sys.modules, "jinja2", SimpleNamespace(TemplateError=LookupError))
    return LookupError


TALK = Record("line 1", (("user", "hi"), ("assistant", "yes"), ("user", "o"), ("assistant", "no")))


@pytest.mark.usefixtures("broken")
def test_gemma2_lora_learns_the_answers_of_a_chat_and_all_of_a_text() -> None:
    (talk, text), cut = encode([TALK, Record("line 2", text="all")], Letters(), 64, "base")
    assert "".join(map(chr, talk.tokens)) == "<u>hi;<a>yes;<u>o;<a>no;"
    assert (learnt(talk), learnt(text), cut) == ("_________yes;________no;", "\x01all\x02", 0)


def test_gemma2_lora_begins_and_ends_a_text_once() -> None:
    """Texts that a chat template wrote have one: the model knows no text that begins twice."""
    (text,), _ = encode([Record("line 1", text="\x01all\x02")], Letters(), 64, "base")
    assert learnt(text) == "\x01all\x02"


@pytest.mark.usefixtures("broken")
def test_gemma2_lora_cuts_what_is_too_long_and_leaves_out_what_teaches_nothing_then() -> None:
    late = Record("line 2", (("user", "x" * 20), ("assistant", "no")))
    (talk,), cut = encode([TALK, late], Letters(), 12, "base")
    assert (learnt(talk), cut) == ("_________yes", 2)
    with pytest.raises(TroubleError, match="every answer begins after the first 8 tokens"):
        encode([TALK, late], Letters(), 8, "base")


def test_gemma2_lora_names_the_record_that_the_models_template_refuses(broken: type[Exception]) -> None:
    class Strict(Letters):
        def apply_chat_template(self, *_: Any, **__: Any) -> str:
            raise broken("Conversation roles must alternate")

    class Forgetful(Letters):
        def apply_chat_template(self, messages: Sequence[Mapping[str, str]], **more: Any) -> str:
            return super().apply_chat_template(messages[-1:], **more)

    with pytest.raises(TroubleError, match=r"line 1 of the data[\s\S]*template says: Conversation roles"):
        encode([TALK], Strict(), 64, "base")
    with pytest.raises(TroubleError, match="template can't be trained on"):
        encode([TALK], Forgetful(), 64, "base")


def test_gemma2_lora_asks_for_a_model_that_can_read_chats() -> None:
    with pytest.raises(TroubleError, match=r"google/gemma-2-2b has no chat template[\s\S]*-p model=2b-it"):
        encode([TALK], Letters(""), 64, "google/gemma-2-2b")


def test_gemma2_lora_refuses_a_chat_for_a_plain_base_before_that_is_fetched(tmp_path: Path) -> None:
    assert "google/gemma-2-9b has no chat template" in refused(tmp_path, jsonl(CHAT), "chat.jsonl", "--model=9b")
    assert prepared(tmp_path, jsonl([{"text": "all"}]), "chat.jsonl", "--model=9b")
    assert prepared(tmp_path, jsonl(CHAT), "chat.jsonl", "--model=9b-it")


FEW_BITS = """
import json, sys
from pathlib import Path
from torch.cuda import OutOfMemoryError
from transformers.integrations import bitsandbytes
from gemma2_lora import data, examples, memory, precision, task, tuning
from gemma2_lora.options import options
from gemma2_lora.place import Place
from gemma2_lora.trouble import TroubleError

folder, hub_token, stranger = Path(sys.argv[1]), *sys.argv[2:]
def known(*more):
    few = ("--model=tiny", "--precision=4bit", "--steps=6", "--every=6", "--length=28")
    return options([*few, f"--output={folder}/output", *more], {})
def told(call, *arguments):
    try:
        call(*arguments)
    except TroubleError as error:
        return str(error)
def full():
    with memory.measured(known()):
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1 GiB. See elsewhere.")
found = {"check": told(precision.check, "4bit"), "full": told(full)}
gated = told(data.read, known("--data=ada/chats"), folder / "gated", {"HF_TOKEN": stranger})
missing = told(data.read, known("--data=ada/chats", "--split=test"), folder / "none", {"HF_TOKEN": hub_token})
from pyarrow import Table, parquet
parquet.write_table(Table.from_pylist([{"text": "a"}, {"text": None}]), folder / "one.parquet")
rows = told(data.read, known(f"--data={folder}/one.parquet"), folder / "rows", {})
(folder / "cut.parquet").write_bytes((folder / "one.parquet").read_bytes()[:-9])
found["cut"] = told(data.read, known(f"--data={folder}/cut.parquet"), folder / "rows", {})
place = Place(folder / "work")
place.events.mkdir(parents=True)
chats = data.read(known("--data=ada/chats"), place.work / "data", {"HF_TOKEN": hub_token})
found |= {"gated": gated, "missing": missing, "rows": rows, "records": len(chats)}
place.base.symlink_to(task.weights(known(), place, {}))
# transformers leaves CPUs to Intel's extension of PyTorch; today's bitsandbytes can do without it.
bitsandbytes.is_ipex_available = lambda: True
examples.prepare(known("--data=ada/chats"), place, chats)
tuning.tune(known("--data=ada/chats"), place)
task.bring_out(known(), place, 1)
print(json.dumps(found))
"""


@pytest.mark.long
@pytest.mark.journey
def test_gemma2_lora_learns_a_chat_of_the_hub_on_weights_of_four_bits(
    tmp_path: Path,
) -> None:
    """Without a GPU the job refuses that. Here the check is passed over: the weights are quantized on the CPU."""
    python = interpreter(tmp_path / "images", TORCH_ON_GPUS, "gemma2-lora")
    late = {"prompt": "sun " * 40, "completion": "No."}
    with serving({"data/train-a.jsonl": jsonl(CHAT), "data/train-b.jsonl": jsonl([*CHAT, late])}) as url:
        call = [str(python), "-c", FEW_BITS, str(tmp_path), GOOD, STRANGER]
        settings = environ(HF_ENDPOINT=url)
        done = subprocess.run(call, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = SimpleNamespace(**json.loads(done.stdout.splitlines()[-1]))
    assert "in 4 bits" in found.check
    assert "it has no CUDA GPU" in found.check and "-p precision=16bit" in found.check
    assert "steps of 2 x 28 tokens" in found.full and "2.00 GiB. GPU 0 has 1 GiB\n  fix: take fewer" in found.full
    assert "accept the licence on https://huggingface.co/datasets/ada/chats" in found.gated
    assert "file of the split 'test'" in found.missing and "data/train-a.jsonl" in found.missing
    assert "why: row 2 has neither" in found.rows
    assert "cut.parquet can't be read" in found.cut
    assert found.records == 5
    cut = "1 of 5 records are longer than 28 tokens and cut there, 1 of them left out, as no answer begins before that"
    assert cut in done.stdout and "4 rows of 28 tokens, 2 a step" in done.stdout
    *losses, _ = json.loads((tmp_path / "output" / "metrics.json").read_text())
    assert losses[-1]["loss"] < losses[0]["loss"] - 0.5
