"""In front of a reader: one decision a trace, and what becomes of an answer that is not accepted."""
