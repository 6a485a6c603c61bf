"""Errors that end a run in words: what happened, why, and what to do now."""

from __future__ import annotations


class TroubleError(Exception):
    def __init__(self, what: str, why: str, fix: str) -> None:
        super().__init__(f"error: {what}\n  why: {why}\n  fix: {fix}")
