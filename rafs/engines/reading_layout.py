"""How a model reads a trace whose steps a trained head judges: a chat, one line a step."""

from rafs.engines.prm_layouts import HeadSpec, PrmLayout

READING_LAYOUT = PrmLayout(framing="chat", separator="\n", score=HeadSpec(layers=(), output="sigmoid"))
"""The problem is the user's message, the steps are the reply; the line feed after a step is where it is read."""
