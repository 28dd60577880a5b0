"""API keys: what they are, where they are kept, how one is checked."""
