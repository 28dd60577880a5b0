"""Bounds on the input; beyond them a request is refused, never cut."""

MAX_PROBLEM_CHARS = 20_000
MAX_TRACE_CHARS = 100_000
"""About 25 000 tokens, three times the window of the embedded verifier."""
MAX_STEPS = 400
MAX_STEP_CHARS = 10_000
MAX_SAMPLES = 32
"""Pairs of traces grow with the square: 32 samples are 496 pairs."""
MAX_ANSWER_CHARS = 2_000
MAX_NAME_CHARS = 200
MAX_RULES = 50
MAX_SEED = 2**31 - 1
MAX_DEADLINE_S = 3600.0
MAX_TOKEN_BUDGET = 2**31 - 1
