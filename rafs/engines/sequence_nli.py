"""A three-way sequence classifier as validator: any NLI cross-encoder in a local folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rafs.engines.batching import MicroBatcher, cut_batches
from rafs.engines.loading import DEFAULT_THREADS, load_model
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, Entailment, ModelIdentity, Why
from rafs.usage import Meter

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

STAGE = "nli"
BATCH_TOKENS = 512
QUEUE_TOKENS = 131_072
MAX_PAIR_TOKENS = 512

_STEMS = {"entail": "entails", "neutral": "neutral", "contradict": "contradicts"}

PairIds = tuple[tuple[int, ...], tuple[int, ...] | None]
"""Token ids of premise and hypothesis joined, and their token types where the model has them."""


class SequenceClassifierNli:
    """An `Nli` on a sequence classifier whose configuration names its three labels."""

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
        self._columns = read_label_order(model.config.id2label, identity.id)
        self._window = min(int(model.config.max_position_embeddings), MAX_PAIR_TOKENS)
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
        queue_tokens: int = QUEUE_TOKENS,
    ) -> "SequenceClassifierNli":
        """Load a local folder.

        Raises:
            BackendError: The folder cannot be loaded.
            ConfigError: See the constructor.
        """
        model = load_model(folder, "AutoModelForSequenceClassification", threads=threads)
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

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        """See `Nli.classify`. Equal pairs run once; a batch holds pairs of this call alone.

        A pair beyond the model's window is `Abstained(TOO_LONG)`.
        """
        if not pairs:
            return []
        distinct = list(dict.fromkeys(pairs))
        encoded = self._encode(distinct)
        fitting = [(pair, ids) for pair, ids in zip(distinct, encoded, strict=True) if len(ids[0]) <= self._window]
        sizes = [len(ids) for _, (ids, _) in fitting]
        batches = cut_batches(sizes, BATCH_TOKENS)
        results = await self._batcher.run(
            [([fitting[at][1] for at in batch], sum(sizes[at] for at in batch)) for batch in batches],
            meter.caller,
        )
        meter.add(STAGE, calls=len(fitting), tokens=sum(sizes))
        found = {
            fitting[at][0]: opinion
            for batch, opinions in zip(batches, results, strict=True)
            for at, opinion in zip(batch, opinions, strict=True)
        }
        too_long = Abstained(why=Why.TOO_LONG, detail=f"the pair passes {self._window} tokens")
        return [found.get(pair, too_long) for pair in pairs]

    def _encode(self, pairs: Sequence[tuple[str, str]]) -> list[PairIds]:
        batch: Any = self._tokenizer([pair[0] for pair in pairs], [pair[1] for pair in pairs], truncation=False)
        types = batch.get("token_type_ids") or [None] * len(pairs)
        return [
            (tuple(ids), None if kinds is None else tuple(kinds))
            for ids, kinds in zip(batch["input_ids"], types, strict=True)
        ]

    def _classify(self, batches: Sequence[list[PairIds]]) -> list[list[Entailment]]:
        return [self._opinions(batch) for batch in batches]

    def _opinions(self, pairs: Sequence[PairIds]) -> list[Entailment]:
        import torch

        longest = max(len(ids) for ids, _ in pairs)
        pad_id = self._tokenizer.pad_token_id or 0

        def padded(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
            return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])  # (n, longest)

        inputs = {
            "input_ids": padded([ids for ids, _ in pairs], pad_id),
            "attention_mask": padded([[1] * len(ids) for ids, _ in pairs], 0),
        }
        kinds = [kinds for _, kinds in pairs if kinds is not None]
        if len(kinds) == len(pairs):
            inputs["token_type_ids"] = padded(kinds, 0)
        with torch.inference_mode():
            p = self._model(**inputs).logits.double().softmax(dim=-1)[:, list(self._columns)]  # (n, 3)
        return [Entailment(entails=e, neutral=n, contradicts=c) for e, n, c in p.tolist()]


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
