"""A step verifier of our own: a small head on a frozen base, its features, its training and its artefacts."""
