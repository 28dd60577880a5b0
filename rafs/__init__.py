"""RAFS: does a chain of thought really carry its answer?"""

__version__ = "0.1.0"
