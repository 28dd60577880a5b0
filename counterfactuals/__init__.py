"""What edits a step, and what the edit does to the answer."""
