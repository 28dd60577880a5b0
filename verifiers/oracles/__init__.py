"""Deterministic oracles: what is right is right by rule, so that a model's judgement can be held against it."""
