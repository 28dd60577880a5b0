"""A three-way sequence classifier as validator: any NLI cross-encoder in a local folder."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rafs.engines.batching import MicroBatcher, cut_batches
from rafs.engines.control_tokens import break_up
from rafs.engines.loading import DEFAULT_THREADS, Precision, load_model, onto_device
from rafs.engines.pair_windows import SEAM_TOKENS, Span, cut_premise, join_opinions, too_long
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, Entailment, ModelIdentity
from rafs.usage import Meter

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

STAGE = "nli"
BATCH_TOKENS = 512
"""Padded tokens of one batch: large enough to fill a core, small enough that little is padding (2 % for claims)."""
QUEUE_TOKENS = 131_072
MAX_PAIR_TOKENS = 512
"""Bound of one pair, for memory, where a model's own window is larger; NLI models are trained on shorter ones."""

CHUNK_CHARS = 100_000
"""What is tokenised in one go, about 0.1 s of a thread: between two a request whose time is up ends."""

_STEMS = {"entail": "entails", "neutral": "neutral", "contradict": "contradicts"}

Pair = tuple[str, str]
PairIds = tuple[tuple[int, ...], tuple[int, ...] | None]
"""Token ids of premise and hypothesis joined, and their token types where the model has them."""


class SequenceClassifierNli:
    """An `Nli` on a sequence classifier whose configuration names its three labels.

    A two-way model (entailment or not) is refused: it does not tell a contradiction from a neutral pair, and a
    contradiction that nobody measured is not 0.
    """

    def __init__(
        self,
        model: "PreTrainedModel",
        tokenizer: "PreTrainedTokenizerBase",
        identity: ModelIdentity,
        *,
        queue_tokens: int = QUEUE_TOKENS,
    ) -> None:
        """Read the label order and take over a loaded model.

        Raises:
            ConfigError: The labels are not entailment, neutral and contradiction.
        """
        self._model = model
        self._tokenizer = tokenizer
        self._identity = identity
        self._columns = list(read_label_order(model.config.id2label, identity.id))
        tokenizer("")  # switches off a truncation of its own; later, beside another thread, that would be an error
        self._window = pair_window(model)
        self._control = {
            token.content for token in tokenizer.added_tokens_decoder.values() if len(token.content.strip()) > 1
        }
        self._batcher: MicroBatcher[list[PairIds], list[Entailment]] = MicroBatcher(
            self._classify, name=identity.id, batch_tokens=1, queue_tokens=queue_tokens
        )

    @classmethod
    def load(
        cls,
        folder: Path,
        identity: ModelIdentity,
        *,
        threads: int = DEFAULT_THREADS,
        dtype: Precision = "float32",
        queue_tokens: int = QUEUE_TOKENS,
    ) -> "SequenceClassifierNli":
        """Load a local folder.

        Args:
            folder: Holds config.json, safetensors and a tokenizer.
            identity: What the response names.
            threads: For torch, process-wide.
            dtype: Precision of the weights; the softmax is computed in double precision whatever it is.
            queue_tokens: Bound of the tokens waiting for this model.

        Raises:
            BackendError: The folder cannot be loaded.
            ConfigError: See the constructor.
        """
        model = onto_device(load_model(folder, "AutoModelForSequenceClassification", threads=threads, dtype=dtype))
        from transformers import AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except (OSError, ValueError) as error:
            raise BackendError(f"no tokenizer in {str(folder)!r}: {error}") from error
        return cls(model, tokenizer, identity, queue_tokens=queue_tokens)

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._identity

    def close(self) -> None:
        """Stop the inference thread."""
        self._batcher.close()

    async def classify(self, pairs: Sequence[Pair], meter: Meter) -> Sequence[Entailment | Abstained]:
        """See `Nli.classify`. Equal pairs run once; a batch holds pairs of this call alone.

        A premise that passes the model's window with its hypothesis is read in overlapping pieces (see
        `pair_windows`), and the opinion says so. `Abstained(TOO_LONG)` where the hypothesis leaves no room for that.
        """
        if not pairs:
            return []
        distinct = list(dict.fromkeys(pairs))
        spans = await asyncio.to_thread(self._spans, distinct)
        longest = self._window + SEAM_TOKENS - self._tokenizer.num_special_tokens_to_add(pair=True)
        fitting = await self._encode(
            pair for pair in distinct if sum(len(spans.get(text, ())) for text in pair) <= longest
        )
        pieces = {pair: self._cut(pair, spans) for pair in distinct if pair not in fitting}
        fitting |= await self._encode(piece for cut in pieces.values() for piece in cut)
        found = await self._run(fitting, meter)
        for pair, cut in pieces.items():
            if cut and found.keys() >= set(cut):
                found[pair] = join_opinions([found[piece] for piece in cut])
        nothing = too_long(self._window)
        return [found.get(pair, nothing) for pair in pairs]

    async def _run(self, encoded: Mapping[Pair, PairIds], meter: Meter) -> dict[Pair, Entailment]:
        """Return the opinion on every pair; each fits the window."""
        fitting = list(encoded.items())
        sizes = [len(ids) for _, (ids, _) in fitting]
        batches = cut_batches(sizes, BATCH_TOKENS)
        results = await self._batcher.run(
            [([fitting[at][1] for at in batch], sum(sizes[at] for at in batch)) for batch in batches],
            meter.caller,
        )
        meter.add(STAGE, calls=len(fitting), tokens=sum(sizes))
        return {
            fitting[at][0]: opinion
            for batch, opinions in zip(batches, results, strict=True)
            for at, opinion in zip(batch, opinions, strict=True)
        }

    def _spans(self, pairs: Iterable[Pair]) -> dict[str, Sequence[Span]]:
        """Return where the tokens of every text stand; nothing where the tokenizer does not say."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair)) if self._tokenizer.is_fast else []
        if not texts:
            return {}
        plain: Any = self._tokenizer(
            list(map(self._plain, texts)), add_special_tokens=False, return_offsets_mapping=True
        )
        return dict(zip(texts, plain["offset_mapping"], strict=True))

    def _cut(self, pair: Pair, spans: Mapping[str, Sequence[Span]]) -> list[Pair]:
        """Return the pair with each piece of its premise; none where it cannot be cut to fit."""
        premise, hypothesis = pair
        if not spans:
            return []
        n_special = self._tokenizer.num_special_tokens_to_add(pair=True)
        pieces = cut_premise(self._plain(premise), spans[premise], len(spans[hypothesis]), n_special, self._window)
        return [(piece, hypothesis) for piece in pieces]

    async def _encode(self, pairs: Iterable[Pair]) -> dict[Pair, PairIds]:
        """Return the token ids of the pairs that fit the window."""
        encoded: dict[Pair, PairIds] = {}
        for rows in _chunks(dict.fromkeys(pairs)):
            encoded |= await asyncio.to_thread(self._encode_chunk, rows)
        return {pair: ids for pair, ids in encoded.items() if len(ids[0]) <= self._window}

    def _encode_chunk(self, rows: Sequence[Pair]) -> dict[Pair, PairIds]:
        plain = {text: self._plain(text) for text in dict.fromkeys(text for pair in rows for text in pair)}
        batch: Any = self._tokenizer([plain[one] for one, _ in rows], [plain[other] for _, other in rows])
        types = batch.get("token_type_ids") or [None] * len(rows)
        return {
            pair: (tuple(ids), None if kinds is None else tuple(kinds))
            for pair, ids, kinds in zip(rows, batch["input_ids"], types, strict=True)
        }

    def _plain(self, text: str) -> str:
        """Return the text with no control token spelled in it: a forged separator would end the premise."""
        return break_up(text, self._control) if self._control else text

    def _classify(self, batches: Sequence[list[PairIds]]) -> list[list[Entailment]]:
        return [self._opinions(batch) for batch in batches]

    def _opinions(self, pairs: Sequence[PairIds]) -> list[Entailment]:
        import torch

        longest = max(len(ids) for ids, _ in pairs)
        pad_id = self._tokenizer.pad_token_id or 0

        def padded(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
            filled = [[*row, *[fill] * (longest - len(row))] for row in rows]
            return torch.tensor(filled, device=self._model.device)  # (n, longest)

        inputs = {
            "input_ids": padded([ids for ids, _ in pairs], pad_id),
            "attention_mask": padded([[1] * len(ids) for ids, _ in pairs], 0),
        }
        kinds = [kinds for _, kinds in pairs if kinds is not None]
        if len(kinds) == len(pairs):
            inputs["token_type_ids"] = padded(kinds, 0)
        with torch.inference_mode():
            p = self._model(**inputs).logits.double().softmax(dim=-1)[:, self._columns]  # (n, 3)
        return [Entailment(entails=e, neutral=n, contradicts=c) for e, n, c in p.tolist()]


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    chunk: list[Pair] = []
    n_chars = 0
    for pair in pairs:
        chunk.append(pair)
        n_chars += sum(map(len, pair))
        if n_chars >= CHUNK_CHARS:
            yield chunk
            chunk, n_chars = [], 0
    if chunk:
        yield chunk


def pair_window(model: "PreTrainedModel") -> int:
    """Return the most tokens of a pair: what the model has positions for, and no more than we run.

    Some models (RoBERTa and its kin) count positions from behind their padding index.
    """
    import torch

    positions = getattr(model.config, "max_position_embeddings", None) or MAX_PAIR_TOKENS
    for name, table in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(table, torch.nn.Embedding):
            taken = 0 if table.padding_idx is None else table.padding_idx + 1
            positions = min(positions, table.num_embeddings - taken)
    return min(int(positions), MAX_PAIR_TOKENS)


def read_label_order(id2label: Mapping[int, str], model: str) -> tuple[int, int, int]:
    """Return the columns of (entails, neutral, contradicts); models order them differently.

    Raises:
        ConfigError: The three labels are not all there, each once, or there are others.
    """
    columns = {
        meaning: int(index)
        for index, label in id2label.items()
        for stem, meaning in _STEMS.items()
        if str(label).lower().startswith(stem)
    }
    if len(id2label) != len(_STEMS) or set(columns) != set(_STEMS.values()):
        raise ConfigError(
            f"model {model!r} has the labels {list(id2label.values())}; an NLI model needs exactly entailment, "
            "neutral and contradiction, named in its config.json (id2label)"
        )
    return columns["entails"], columns["neutral"], columns["contradicts"]
