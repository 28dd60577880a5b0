"""Probabilities as log-odds and back, neither ever certain."""

import math

LOGIT_LIMIT = 6.0
"""Probabilities are read no closer to 0 or 1 than sigmoid(-+6): no single member is certain."""


def logit(p: float) -> float:
    """log(p / (1 - p)), clipped to [-LOGIT_LIMIT, LOGIT_LIMIT]."""
    if p <= 0:
        return -LOGIT_LIMIT
    if p >= 1:
        return LOGIT_LIMIT
    return max(-LOGIT_LIMIT, min(LOGIT_LIMIT, math.log(p / (1 - p))))


def sigmoid(log_odds: float) -> float:
    """1 / (1 + exp(-x)), with x clipped to [-LOGIT_LIMIT, LOGIT_LIMIT]."""
    return 1 / (1 + math.exp(-max(-LOGIT_LIMIT, min(LOGIT_LIMIT, log_odds))))
