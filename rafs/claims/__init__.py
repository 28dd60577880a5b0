"""Claims: what a step asserts, and whether it holds."""
