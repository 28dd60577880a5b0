"""How a process reward model reads a trace: which token stands where, and where each step's score is read.

A layout is data (models.yaml). Laid out, a trace is one row of ids with exactly one mark per step, P + T(s + 1) tokens.
"""

import math
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rafs.contracts import PromptPart
from rafs.engines.prompt_tokens import PartTokenizer
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, Judged, Verdict, Why

Framing = Literal["plain", "chat", "turns"]

_ANCHOR = "\n"
"""Put before text that goes on in mid-sentence: some tokenizers put a space before whatever stands first."""
_OWN_NUMBER = re.compile(r"\Astep\s*\d+\s*[:.)]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPair:
    """The score is the softmax over the next-token logits of two tokens."""

    good: str
    bad: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSpec:
    """The score is a small network on the last hidden state."""

    layers: tuple[str, ...]
    """Linear layers by their names in the checkpoint, without `.weight` and `.bias`; ReLU between them."""
    output: Literal["softmax", "sigmoid"]
    classes: tuple[int, ...] = ()
    """Softmax: the classes whose probabilities, summed, are the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrmLayout:
    """The published format of one family of process reward models."""

    framing: Framing
    """`plain` text; one `chat` whose assistant message holds all steps; or `turns`: each step is a user message, and
    the separator the assistant's reply."""
    separator: str
    """Stands after every step; one token."""
    score: TokenPair | HeadSpec
    read: Literal["at", "before"] = "at"
    """Whether the score is read at the separator, or where the model is about to write it."""
    bos: bool = False
    """Plain: whether a beginning-of-text token stands first."""
    system: str | None = None
    """Chat: the system message."""
    opening: str = "{problem}"
    """What stands before the first step."""
    first: str = "{step}"
    """The first step, right after the opening."""
    step: str = "{step}"
    """Every later step; `{n}` is its number."""

    @property
    def has_blank_separator(self) -> bool:
        """Whether the separator is white space, such as a line feed."""
        return not self.separator.strip()

    def write_opening(self, problem: str) -> str:
        """Return the text before the first step."""
        return _fill(self.opening, problem=problem.strip())

    def write_step(self, text: str, place: int) -> str:
        """Return the text of the step at `place`; a blank separator in it becomes a space."""
        template = self.step if place else self.first
        text = text.strip()
        if self.has_blank_separator:
            text = text.replace(self.separator, " ")
        if "{n}" in template:
            text = _OWN_NUMBER.sub("", text)
        return _fill(template, step=text, n=str(place + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOut:
    """A trace as the model reads it."""

    ids: tuple[int, ...]
    reads: tuple[int, ...]
    """Where the scores are read, in order; the last id is the last of them."""
    body: int = 0
    """Where the first step starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Trusted tokens around the text."""

    start: tuple[int, ...] = ()
    after_opening: tuple[int, ...] = ()
    before_step: tuple[int, ...] = ()
    """Before every step but the first."""
    before_mark: tuple[int, ...] = ()


class StepLayout:
    """Lays traces out in tokens of one model."""

    def __init__(self, layout: PrmLayout, tokenizer: PartTokenizer, name: str) -> None:
        """Resolve the layout's tokens.

        Raises:
            ConfigError: Separator, good or bad are not one token, there is no beginning-of-text token, or the chat
                template does not render the messages as given.
        """
        self.layout = layout
        self._tokenizer = tokenizer
        self._name = name
        self._anchor = tokenizer.ids(PromptPart(text=_ANCHOR))
        self._separator = self._single_id(layout.separator, "separator")
        self._frame = _find_frame(layout, tokenizer, name)
        self._mark = (*self._frame.before_mark, self._separator)
        is_plain_text = layout.framing != "turns" and not layout.has_blank_separator
        self._cut = re.compile(f"(?={re.escape(layout.separator.strip())})") if is_plain_text else None
        self.pair: list[int] = []
        """Ids of the good and the bad token, where the score is read from two."""
        if isinstance(layout.score, TokenPair):
            texts = {"tokens.good": layout.score.good, "tokens.bad": layout.score.bad}
            self.pair = [self._single_id(text, key) for key, text in texts.items()]

    async def judge(
        self,
        problem: str,
        steps: Sequence[str],
        ask: Sequence[int],
        window: int,
        score: Callable[[LaidOut], Awaitable[Sequence[float]]],
    ) -> list[Verdict]:
        """Return the verdicts of `StepRewarder.reward`.

        Args:
            problem: Untrusted.
            steps: Untrusted.
            ask: Positions in `steps`; nothing after the last of them is read.
            window: Tokens that the model takes.
            score: Asks the model for P(correct) of the asked steps of a trace; not called where there is none.

        Raises:
            BackendError: The scores are not one number a step.
        """
        kept = written(steps[: max(ask, default=-1) + 1])
        laid = self.lay_out(problem, [steps[t] for t in kept], window)
        if laid is None:
            unclear = Abstained(why=Why.UNPARSED, detail="the trace spells the mark that ends a step of this model")
            return read_verdicts(steps, ask, [], unclear)
        too_long = Abstained(why=Why.TOO_LONG, detail=f"the trace passes {window} tokens")
        asked = {t: read for t, read in zip(kept, laid.reads, strict=False) if t in ask and read < window}
        reads = tuple(asked.values())
        scores = await score(LaidOut(ids=laid.ids[: reads[-1] + 1], reads=reads)) if reads else []
        if len(scores) != len(reads) or not all(map(math.isfinite, scores)):
            raise BackendError(f"{self._name}: {len(reads)} steps gave the scores {scores[:3]}...")
        found = dict(zip(asked, scores, strict=True))
        return read_verdicts(steps, ask, [found.get(t, too_long) for t in kept], too_long)

    def _single_id(self, text: str, key: str) -> int:
        found = self._tokenizer.single_ids([text]) or self._tokenizer.single_ids([text], after=_ANCHOR)
        if len(found) != 1:
            raise ConfigError(
                f"model {self._name!r}: prm.{key}: got {text!r}; allowed: what is one token of its tokenizer"
            )
        return found[0]

    def lay_out(self, problem: str, steps: Sequence[str], limit: int) -> LaidOut | None:
        """Return the trace in tokens; steps past `limit` tokens may be left out.

        Args:
            problem: Untrusted, like the steps: what spells a control token or the separator is cut into characters.
            steps: None of them blank.
            limit: Text beyond that many tokens is not worth tokenising.

        Returns:
            None where the marks in the tokens are not exactly one per step, at its end.
        """
        frame = self._frame
        opening = self.layout.write_opening(problem)
        # Only what stands first in the whole text gets the space that some tokenizers put there.
        encode = self._encode_first if self.layout.framing == "plain" else self._encode
        ids = [*frame.start, *self._text_ids(opening, encode), *frame.after_opening]
        body, ends = len(ids), list[int]()
        for place, step in enumerate(steps):
            if len(ids) > limit:
                break
            ids += frame.before_step if place else ()
            ids += [*self._text_ids(self.layout.write_step(step, place), self._encode), *self._mark]
            ends.append(len(ids) - 1)
        if ends != self._find_marks(ids, body if self.layout.has_blank_separator else 0):
            return None
        reads = tuple(end - (self.layout.read == "before") for end in ends)
        return LaidOut(ids=tuple(ids[: max(reads, default=-1) + 1]), reads=reads, body=body)

    def _find_marks(self, ids: Sequence[int], start: int) -> list[int]:
        width = len(self._mark)
        return [
            end
            for end in range(start + width - 1, len(ids))
            if ids[end] == self._separator and tuple(ids[end + 1 - width : end + 1]) == self._mark
        ]

    def _text_ids(self, text: str, encode: Callable[[str], list[int]]) -> list[int]:
        """Return the ids of untrusted text; where they hold the separator, it is cut into characters."""
        ids = encode(text)
        if self._cut is None or self._separator not in ids:
            return ids
        cuts = [match.start() + 1 for match in self._cut.finditer(text)]
        pieces = pairwise([0, *cuts, None])
        encoded = [(self._encode if start else encode)(text[start:end]) for start, end in pieces]
        return [index for piece in encoded for index in piece if index != self._separator]

    def _encode(self, text: str) -> list[int]:
        """Return the ids of untrusted text that goes on in mid-sentence."""
        anchored = self._tokenizer.ids(PromptPart(text=_ANCHOR + text))
        width = len(self._anchor)
        return anchored[width:] if anchored[:width] == self._anchor else self._encode_first(text)

    def _encode_first(self, text: str) -> list[int]:
        return self._tokenizer.ids(PromptPart(text=text))


def read_verdicts(
    steps: Sequence[str], ask: Sequence[int], found: Sequence[Verdict | float], too_long: Abstained
) -> list[Verdict]:
    """Return one verdict per entry of `ask`.

    Args:
        steps: All steps; a blank one has nothing to judge.
        ask: Positions in `steps`.
        found: Score or abstention of the steps that are not blank, in order; it may end early.
        too_long: Said of the steps after those.
    """
    places = {t: rank for rank, t in enumerate(written(steps))}

    def verdict(t: int) -> Verdict:
        if t not in places:
            return Abstained(why=Why.NOT_APPLICABLE, detail="the step is blank")
        said = found[places[t]] if places[t] < len(found) else too_long
        return Judged(p_correct=said) if isinstance(said, float) else said

    return [verdict(t) for t in ask]


def written(steps: Sequence[str]) -> list[int]:
    """Return the positions of the steps that are not blank."""
    return [t for t, step in enumerate(steps) if step.strip()]


def _fill(template: str, **values: str) -> str:
    """Put values into a template; what a value itself spells is left alone."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), template)


def _find_frame(layout: PrmLayout, tokenizer: PartTokenizer, name: str) -> _Frame:
    if layout.framing == "plain":
        bos = tokenizer.tokenizer.bos_token_id
        if layout.bos and bos is None:
            raise ConfigError(f"model {name!r}: prm.bos: got true, allowed false: its tokenizer has no such token")
        return _Frame(start=(int(bos),) if layout.bos else ())
    roles = ["user", "assistant"] * (2 if layout.framing == "turns" else 1)
    pieces = [
        tuple(tokenizer.ids(PromptPart(text=text, trusted=True))) for text in _render(layout, roles, tokenizer, name)
    ]
    if layout.framing == "chat":
        return _Frame(start=pieces[0], after_opening=pieces[1])
    if pieces[1] != pieces[3]:
        raise ConfigError(
            f"model {name!r}: its chat template does not render every turn alike; prm.framing cannot be 'turns'"
        )
    return _Frame(start=pieces[0], before_mark=pieces[1], before_step=pieces[2])


def _render(layout: PrmLayout, roles: Sequence[str], tokenizer: PartTokenizer, name: str) -> list[str]:
    """Return what the chat template puts before each message's text."""
    from jinja2 import TemplateError  # comes with transformers

    slots = [f"\x00rafs-{place}\x00" for place in range(len(roles))]
    messages = [{"role": role, "content": slot} for role, slot in zip(roles, slots, strict=True)]
    if layout.system is not None:
        messages.insert(0, {"role": "system", "content": layout.system})
    try:
        rendered = tokenizer.tokenizer.apply_chat_template(messages, tokenize=False)
    except (ValueError, TemplateError) as error:
        raise ConfigError(
            f"model {name!r}: its chat template does not take the messages of prm.framing: {error}"
        ) from error
    pieces = re.split("|".join(map(re.escape, slots)), str(rendered))
    if re.findall("|".join(map(re.escape, slots)), str(rendered)) != slots:
        raise ConfigError(f"model {name!r}: its chat template does not render every message exactly once")
    return pieces[:-1]
