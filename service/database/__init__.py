"""What outlives a request: keys, counters, answers."""
