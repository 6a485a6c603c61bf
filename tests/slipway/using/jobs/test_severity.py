"""A line's severity by its text: what programs write to stderr is an error to the service. # N25"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.google.logging import LogEntry
from slipway.using.jobs.severity import is_at_least, is_bar, severity, tells_reason

STDERR = LogEntry(None, "", "ERROR", "workerpool0-0", "workerpool0-0", "", "", {})
BARS = (
    " 42%|████▏     | 42/100 [00:04<00:05, 10.02it/s]",
    "model.safetensors: 100%|██████████| 1.2G/1.2G [00:10<00:00, 118MB/s]",
    "{'loss': 0.5}  3%|▎         | 3/100 [00:01<00:52,  1.85it/s, loss=0.5]",
    "0it [00:00, ?it/s]\r17it [00:01, 16.9it/s]",
    "12/50 [=====>.........] - ETA: 3s - loss: 0.5",
    "   ━━━━━━━━━━━━━━━━━━━━━ 1.2/1.2 MB 9.3 MB/s eta 0:00:00",
)


@pytest.mark.parametrize("text", BARS)
def test_a_progress_bar_is_no_error(text: str) -> None:
    entry = replace(STDERR, text=text)
    assert is_bar(entry) and severity(entry) == "INFO" and not is_at_least(entry, "WARNING")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("INFO:root:epoch 3", "INFO"),
        ("2026-11-27 12:00:00,123 - distributed.worker - INFO - Start worker", "INFO"),
        ("2026-11-27 12:00:00,123 INFO trainer: begins", "INFO"),
        ("2026-11-27T12:00:00Z WARN slow", "WARNING"),
        ("2026-11-27 12:00:00.123 | DEBUG    | mod:f:12 - x", "DEBUG"),
        ("[INFO|trainer.py:804] 2026-11-27 12:00:00,123 >> Using auto half precision", "INFO"),
        ("I1127 12:00:00.123456 7 file.cc:12] ready", "INFO"),
        ("[rank0]:[W1127 12:00:00.123456789 ProcessGroupNCCL.cpp:1250] Warning: destroy", "WARNING"),
        ("2026-11-27 12:00:00.123456: I tensorflow/core/platform/x.cc:1] uses AVX", "INFO"),
        ("host-0:12:12 [0] NCCL INFO Bootstrap", "INFO"),
        ("/opt/lib/x.py:12: FutureWarning: deprecated", "WARNING"),
        ("  warnings.warn(", "WARNING"),
        ("WARNING:tensorflow:old", "WARNING"),
        ("ERROR:root:no data", "ERROR"),
        ("CRITICAL the end", "CRITICAL"),
        ("Traceback (most recent call last):", "ERROR"),
        ("ValueError: 3 - INFO is missing", "ERROR"),
        ('  File "x.py", line 3, in info', "ERROR"),
        (" 50%|█████     | 1/2 [00:00<00:00]RuntimeError: no room", "ERROR"),
        ("information is lost", "ERROR"),
        ("1" * 5000, "ERROR"),
    ],
)
def test_a_logger_s_line_has_its_level(text: str, level: str) -> None:
    assert severity(replace(STDERR, text=text)) == level


@given(st.text())
def test_what_the_service_calls_no_error_is_none(text: str) -> None:
    assert severity(replace(STDERR, text=text, severity="INFO")) == "INFO"


def test_a_reason_is_told_from_what_else_is_on_stderr() -> None:
    assert tells_reason("Traceback (most recent call last):") and tells_reason("torch.OutOfMemoryError: CUDA")
    assert not tells_reason("reads 3 files") and not tells_reason("no error so far")
