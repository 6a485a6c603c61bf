"""The text to train on when no other is named: sonnets by William Shakespeare (1609), in the public domain."""

from pathlib import Path

TEXT = Path(__file__).with_name("sonnets.txt").read_text("utf-8")
