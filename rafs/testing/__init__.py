"""Assertions for tests of what models write: `assert_faithful`; `rafs.testing.plugin` has a fixture for pytest."""

from rafs.testing.assertions import assert_faithful

__all__ = ["assert_faithful"]
