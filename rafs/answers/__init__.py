"""Final answers: where a text states them, and whether two of them are the same."""
