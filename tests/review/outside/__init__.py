"""Cases of an outside author, written on 2026-11-22 without reading the review."""
