"""Cutting a text into steps, and saying what each of them does."""
