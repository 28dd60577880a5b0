"""Which units stand for the same quantity in other numbers."""

from rafs.grammar.units import conversion, family_of, may_convert

__all__ = ["conversion", "family_of", "may_convert"]
