"""What judges a step."""
