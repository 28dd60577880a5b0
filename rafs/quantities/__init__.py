"""The quantity graph: where numbers come from and what they lead to."""
