"""The faces of RAFS: HTTP, command line, batch and web page."""
