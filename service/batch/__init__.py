"""Logs scored by the million: read once, told apart by what is asked, scored once, and never lost."""
