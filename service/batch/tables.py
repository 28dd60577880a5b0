"""The tables of a batch's index: everything that a batch must not forget.

line      every row that was read: where it stands, its own id, and which item it asks for
item      every distinct request, under the number of the first row that asks it
pending   requests that are still to be scored; what is in flight stays here until its result is written
result    scores
failure   items without a score, and rows that make none; what may be tried again keeps its request
part      parts of the results that are written as they should be
question  the request side of an OpenAI batch, by custom id
fact      what the batch was begun with, and how far it is
"""

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

line = Table(
    "line",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("file", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("id", String),
    Column("item", Integer, nullable=False),
)
item = Table(
    "item",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
)
pending = Table(
    "pending",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("request", LargeBinary, nullable=False),
)
result = Table(
    "result",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("status", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("ms", Float, nullable=False),
    Column("record", Text, nullable=False),
    Column("response", LargeBinary),
)
failure = Table(
    "failure",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("kind", String, nullable=False),
    Column("message", Text, nullable=False),
    Column("request", LargeBinary),
)
part = Table("part", METADATA, Column("number", Integer, primary_key=True))
question = Table(
    "question", METADATA, Column("custom_id", String, primary_key=True), Column("request", LargeBinary, nullable=False)
)
fact = Table("fact", METADATA, Column("name", String, primary_key=True), Column("value", Text, nullable=False))
