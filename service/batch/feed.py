"""The items of a batch in order: those that wait, and behind them what is still to be read."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from rafs.errors import InputError
from service.batch.canonical import canonical, hash_of
from service.batch.index import BatchIndex, Cursor, ReadRow
from service.batch.mapping import Mapper
from service.batch.outcome import Failed, Item, Kind
from service.batch.shapes import LeftOut
from service.batch.source import Line
from service.visible import show_text

ROWS_AT_ONCE = 128
"""Rows that are read in one go, while nothing else runs on the event loop: some 20 ms."""
MAX_MESSAGE_CHARS = 500

Reading = Callable[[Cursor], Iterator[Line]]
"""Reads on from a place."""


class Feed:
    """Gives out items, each once in the life of this object, and reads the input no faster than they are taken."""

    def __init__(self, index: BatchIndex, mapper: Mapper, read: Reading, limit: int | None = None) -> None:
        """Begin where the index is.

        Args:
            index: Keeps what was read.
            mapper: Makes requests of rows.
            read: Reads the input from a place on.
            limit: Rows that are read at most, those of earlier included.
        """
        self._index = index
        self._mapper = mapper
        self._limit = limit
        self.cursor = index.read_cursor()
        self._lines = read(self.cursor)
        self._given = 0

    def take(self, n: int) -> Sequence[Item]:
        """Return up to `n` items that were not given out yet; none where there are no more.

        Raises:
            InputError: The input cannot be read any further.
        """
        items: list[Item] = []
        while not items:
            items = self._index.pending_after(self._given, n)
            if not items and not self._read_on():
                break
        if items:
            self._given = items[-1].number
        return items

    @property
    def has_read_enough(self) -> bool:
        """Whether the input has ended, or the limit is reached."""
        return self.cursor.ended or (self._limit is not None and self.cursor.n_rows >= self._limit)

    def _read_on(self) -> bool:
        """Read some rows; return whether there were any left to read."""
        if self.has_read_enough:
            return False
        room = ROWS_AT_ONCE if self._limit is None else min(ROWS_AT_ONCE, self._limit - self.cursor.n_rows)
        lines = list(islice(self._lines, room))
        left_out = dict(self.cursor.left_out)
        rows: list[ReadRow] = []
        for number, line in enumerate(lines, self.cursor.n_rows + 1):
            try:
                rows.append(self._read(number, line))
            except LeftOut as why:
                left_out[str(why)] = left_out.get(str(why), 0) + 1
        cursor = Cursor(
            position=lines[-1].after if lines else self.cursor.position,
            n_rows=self.cursor.n_rows + len(lines),
            ended=len(lines) < room,
            left_out=left_out,
        )
        self._index.add(rows, cursor)
        self.cursor = cursor
        return True

    def _read(self, number: int, line: Line) -> ReadRow:
        asks: tuple[bytes, bytes] | Failed
        try:
            mapped = self._mapper.read(line)
            row_id, request = mapped.id, canonical(mapped.request)
            asks = (hash_of(request), request)
        except InputError as error:
            row_id = self._mapper.read_id(line)
            asks = Failed(kind=Kind.INPUT, message=show_text(str(error), MAX_MESSAGE_CHARS))
        return ReadRow(number=number, file=line.file, place=line.number, id=row_id, asks=asks)
