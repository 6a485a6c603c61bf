"""Errors of templates, of which several may have the same."""

from __future__ import annotations

from slipway.base.errors import ConfigError


class TemplateError(ConfigError):
    """An error of a template. `verb`: as it is said of one, and of several: `fits`, `fit`."""

    def __init__(self, template: str, verb: tuple[str, str], rest: str, *, why: str, fix: str) -> None:
        super().__init__(f"template {template} {verb[0]} {rest}", why=why, fix=fix)
        self.template = template
        self.of_several = f"{verb[1]} {rest}"
