"""A three-way sequence classifier behind text-embeddings-inference (TEI): `/predict` on pairs of texts."""

import math
import re
from collections.abc import Mapping, Sequence

from rafs.engines.control_tokens import defuse
from rafs.engines.known_server import ABSENCES
from rafs.engines.pair_windows import Span, cut_premise, join_opinions, too_long
from rafs.engines.sequence_nli import Pair, read_label_order
from rafs.engines.server_connection import Json, RejectedError, ServerConnection, run_together
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, Entailment, ModelIdentity, Why
from rafs.usage import Meter

STAGE = "nli"
BATCH_PAIRS = 32
"""TEI's own `max_client_batch_size`, where the server does not say."""
N_SPECIAL = 4
"""The most special tokens that an encoder puts around a pair; RoBERTa does."""
SUM_TOLERANCE = 0.02
"""By which probabilities in half precision may miss 1; raw scores miss it by far."""
SPLIT_STATUSES = frozenset({413, 422})
"""TEI refuses a whole batch for its size, or for one pair in it that is too long or cannot be tokenised."""
_WINDOW = re.compile(r"must have less than (\d{1,7}) tokens")

Opinion = Entailment | Abstained


class ServerNli:
    """An `Nli` on a server.

    Labels are read from every reply, so their order does not matter. The server tokenises, so untrusted text is made
    harmless as text: what spells a control token gets a space after its first character. It is told not to truncate;
    a premise that it finds too long is cut by what its `/tokenize` says, see `pair_windows`.
    """

    def __init__(self, connection: ServerConnection, identity: ModelIdentity) -> None:
        """Stand on a connection; nothing is asked yet."""
        self._connection = connection
        self._identity = identity
        self._known: tuple[int, int] | None = None

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    async def classify(self, pairs: Sequence[Pair], meter: Meter) -> Sequence[Opinion]:
        """See `Nli.classify`. Equal pairs are sent once, pairs of one length together.

        `Abstained(TOO_LONG)` where a pair passes the server's window and cannot be cut to fit, `Abstained(UNPARSED)`
        where the server cannot tokenise it.

        Raises:
            BackendError: The server cannot be used, serves another model, or its reply is no three-way distribution.
            OverloadedError: Too many requests wait for this server.
        """
        if not pairs:
            return []
        size = await self._batch_pairs()
        distinct = sorted(dict.fromkeys(pairs), key=lambda pair: len(pair[0]) + len(pair[1]))
        batches = [distinct[at : at + size] for at in range(0, len(distinct), size)]
        found: dict[Pair, Opinion] = {}
        for part in await run_together([self._predict(batch, meter) for batch in batches]):
            found |= part
        return [found[pair] for pair in pairs]

    async def _batch_pairs(self) -> int:
        """Return how many pairs the server takes at once, as it said since its connection last broke.

        Raises:
            BackendError: It serves another model than the one that opinions would be said to be of.
        """
        era = self._connection.times_lost
        if self._known is None or self._known[0] != era:
            info = await self._ask_info()
            model, size = info.get("model_id"), info.get("max_client_batch_size")
            wanted = self._connection.settings.model
            if isinstance(model, str) and model != wanted:
                raise BackendError(f"the server of {self._identity.id!r} serves {model!r}, models.yaml says {wanted!r}")
            self._known = era, size if isinstance(size, int) and size > 0 else BATCH_PAIRS
        return self._known[1]

    async def _ask_info(self) -> Mapping[str, Json]:
        try:
            return await self._connection.get("/info")
        except RejectedError as error:
            if error.status not in ABSENCES:
                raise
            return {}

    async def _predict(self, batch: Sequence[Pair], meter: Meter, *, may_cut: bool = True) -> dict[Pair, Opinion]:
        """Return the opinion on each pair of a batch; one that is refused is halved until it is known over what."""
        inputs = [[defuse(premise), defuse(hypothesis)] for premise, hypothesis in batch]
        body: dict[str, Json] = {"inputs": inputs, "raw_scores": False, "truncate": False}
        try:
            rows = await self._connection.post_for_list("/predict", body, meter.caller.priority)
        except RejectedError as error:
            if error.status not in SPLIT_STATUSES:
                raise
            if len(batch) == 1:
                return {batch[0]: await self._refused(batch[0], error, meter, may_cut=may_cut)}
            half = len(batch) // 2
            halves = [self._predict(part, meter, may_cut=may_cut) for part in (batch[:half], batch[half:])]
            one, other = await run_together(halves)
            return one | other
        meter.add(STAGE, calls=len(batch))
        if len(rows) != len(batch):
            raise BackendError(f"the server of {self._identity.id!r} gave {len(rows)} opinions on {len(batch)} pairs")
        return {pair: self._read(row) for pair, row in zip(batch, rows, strict=True)}

    async def _refused(self, pair: Pair, error: RejectedError, meter: Meter, *, may_cut: bool) -> Opinion:
        """Return the opinion on a pair that the server does not take as it is.

        Raises:
            RejectedError: Not for its length or its text.
        """
        if (match := _WINDOW.search(error.said)) is None:
            if error.status == 422 and "tokeniz" in error.said.lower():
                return Abstained(why=Why.UNPARSED, detail="the server cannot tokenise the pair")
            raise error
        window = int(match.group(1))
        pieces = await self._cut(pair, window, meter) if may_cut else []
        if len(pieces) < 2:
            return too_long(window)
        said = (await self._predict(pieces, meter, may_cut=False)).values()
        opinions = [each for each in said if isinstance(each, Entailment)]
        return join_opinions(opinions) if len(opinions) == len(said) else too_long(window)

    async def _cut(self, pair: Pair, window: int, meter: Meter) -> list[Pair]:
        """Return the pair with each piece of its premise; none where the server does not say where tokens stand."""
        premise, hypothesis = map(defuse, pair)
        body: dict[str, Json] = {"inputs": [premise, hypothesis], "add_special_tokens": False}
        try:
            rows = await self._connection.post_for_list("/tokenize", body, meter.caller.priority)
        except RejectedError:
            return []
        if len(rows) != 2 or not isinstance(rows[1], list):
            return []
        pieces = cut_premise(premise, read_spans(premise, rows[0]), len(rows[1]), N_SPECIAL, window)
        return [(piece, pair[1]) for piece in pieces]

    def _read(self, row: Json) -> Entailment:
        """Read one list of labels and scores, of any order."""
        cells = [cell for cell in row if isinstance(cell, dict)] if isinstance(row, list) else []
        scores = [score for cell in cells if isinstance(score := cell.get("score"), int | float) and score >= 0]
        try:
            labels = {number: str(cell.get("label")) for number, cell in enumerate(cells)}
            columns = read_label_order(labels, self._identity.id)
        except ConfigError as error:  # What the operator wrote is right; what the server serves is not.
            raise BackendError(str(error)) from error
        total = sum(scores)
        if len(scores) != len(columns) or not math.isclose(total, 1, abs_tol=SUM_TOLERANCE):
            raise BackendError(f"the server of {self._identity.id!r} gave scores that are no probabilities")
        entails, neutral, contradicts = (scores[column] / total for column in columns)
        return Entailment(entails=entails, neutral=neutral, contradicts=contradicts)


def read_spans(text: str, tokens: Json) -> list[Span]:
    """Return where the tokens of a text stand, in characters; none where the server does not say.

    Versions of TEI count bytes or characters; what reaches beyond the text's characters must be bytes.
    """
    if not isinstance(tokens, list):
        return []
    spans = []
    for token in tokens:
        start, stop = (token.get("start"), token.get("stop")) if isinstance(token, dict) else (None, None)
        if not isinstance(start, int) or not isinstance(stop, int) or not 0 <= start <= stop:
            return []
        spans.append((start, stop))
    if max((stop for _, stop in spans), default=0) <= len(text):
        return spans
    char_at = [at for at, char in enumerate(text) for _ in char.encode(errors="surrogatepass")] + [len(text)]
    if max(stop for _, stop in spans) >= len(char_at):
        return []
    return [(char_at[start], char_at[stop]) for start, stop in spans]
