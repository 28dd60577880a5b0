"""Measuring a scorer: labelled traces, records of what was scored, metrics with intervals, thresholds with a bound."""
