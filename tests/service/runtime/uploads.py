"""What schemathesis cannot know of our uploads: an `application/jsonl` body has a JSON value a line, mostly a request.

Loaded by its SCHEMATHESIS_HOOKS. Without it every example with such a body is thrown away, until it gives up.
"""

import json

import schemathesis
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TEXTS = st.text(min_size=1, max_size=60)
ROWS = st.fixed_dictionaries(
    {"problem": TEXTS, "trace": TEXTS | st.lists(TEXTS, min_size=1, max_size=4)},
    optional={
        "custom_id": TEXTS,
        "preset": st.sampled_from(["gate", "standard", "none"]),
        "seed": JSON,
        "answer": JSON,
    },
)
LINES = st.lists((ROWS | JSON).map(json.dumps) | st.text(max_size=20), max_size=6).map("\n".join)

schemathesis.openapi.media_type("application/jsonl", LINES.map(lambda text: text.encode("utf-8", "surrogatepass")))
