"""Edits of words that an editor proposes and the validator lets pass."""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from counterfactuals.constraints import Broken, broken_constraint
from counterfactuals.numerals import mentions
from counterfactuals.planning import Plan
from counterfactuals.prefixes import first_mentions
from counterfactuals.text_edits import last_conclusion
from rafs.contracts import Editor, Nli
from rafs.errors import BackendError, OverloadedError
from rafs.interventions import Edit, EditFamily, Editing, Proposed, Target
from rafs.threads import in_thread
from rafs.types import Abstained, Entailment, Reading
from rafs.usage import Meter

logger = logging.getLogger(__name__)

N_PROPOSALS = 3
"""For each sentence (ours)."""
MAX_SENTENCE_CHARS = 400
"""A longer one is no sentence that a few words turn round (ours)."""
MIN_KEPT = 0.5
"""Share of the words of the longer sentence that both have; below it, it is another sentence (ours)."""
MAX_ENTAILED = 0.5
"""P(one sentence entails the other) from which on they conclude the same (ours)."""
SHARE_OF_TIME = 0.5
"""Share of the time left that editor and validator may take; the rest is for continuations."""
_WORD = re.compile(r"\S+")
_ENDS = ".!;"


class Refusal(StrEnum):
    """Why a proposal is no edit, where it broke no constraint."""

    NO_PROPOSAL = "no_proposal"
    """The editor failed, was too slow, or replied with something else than a sentence."""
    SAYS_THE_SAME = "says_the_same"
    """By the validator, the old sentence entails the new one or the new one the old one."""
    NOT_VALIDATED = "not_validated"
    """The validator failed, was too slow, or could not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """The sentence in which a step concludes."""

    step: int
    start: int
    text: str
    """Without the sign that ends it."""


async def propose_edits(
    plan: Plan,
    reading: Reading,
    target: Target | None,
    editor: Editor,
    validator: Nli,
    n_most: int,
    seed: int,
    ends_at: float,
    meter: Meter,
) -> None:
    """Ask the editor about pivots in words that have no edit yet, and add what passes to the plan: one edit a pivot.

    Whatever does not pass is discarded under its code, a constraint's or a `Refusal`.

    Args:
        plan: With its pivots and the edits by rules.
        reading: The trace and its quantity graph.
        target: What the answer is in the graph.
        editor: Of another family than the writer.
        validator: Likewise.
        n_most: Edits wanted in all.
        seed: Server-side; of the draws.
        ends_at: Time of the event loop at which the stage ends.
        meter: Where cost is counted.
    """
    sentences = _open_sentences(plan, reading)[: max(0, n_most - len(plan.edits))]
    if not sentences:
        return
    now = asyncio.get_running_loop().time()
    until = now + SHARE_OF_TIME * (ends_at - now)
    proposed = await _ask_editor(editor, [one.text for one in sentences], seed, until, meter)
    if not proposed:
        plan.discarded += [(one.step, Refusal.NO_PROPOSAL) for one in sentences]
    made = await in_thread(_edits, plan, reading, target, sentences, proposed)
    pairs = list(dict.fromkeys(pair for _, old, new in made for pair in ((old, new), (new, old))))
    opinions = await _ask_validator(validator, pairs, until, meter)
    for edit, old, new in made:
        refusal = _refusal([opinions.get(pair) for pair in ((old, new), (new, old))])
        if refusal is not None:
            plan.discarded.append((edit.step, refusal))
        elif all(edit.step != other.step for other in plan.edits):
            plan.edits += (edit,)
    plan.editing = Editing(
        editor=editor.identity,
        validator=validator.identity,
        proposed=tuple(proposed.values()),
        opinions=opinions,
    )


async def _ask_editor(
    editor: Editor, sentences: Sequence[str], seed: int, until: float, meter: Meter
) -> dict[str, Proposed]:
    asked = list(dict.fromkeys(sentences))
    try:
        meter.end_if_spent()
        async with asyncio.timeout_at(until):
            drawn = await editor.propose(asked, N_PROPOSALS, seed, meter)
    except (TimeoutError, BackendError, OverloadedError) as error:
        logger.warning("editor %s proposed nothing: %r", editor.identity.id, error)
        return {}
    return {
        sentence: Proposed(
            sentence=sentence,
            seed=seed,
            texts=tuple(None if isinstance(text, Abstained) else text for text in texts),
        )
        for sentence, texts in zip(asked, drawn, strict=True)
    }


async def _ask_validator(
    validator: Nli, pairs: Sequence[tuple[str, str]], until: float, meter: Meter
) -> dict[tuple[str, str], Entailment | Abstained]:
    if not pairs:
        return {}
    try:
        meter.end_if_spent()
        async with asyncio.timeout_at(until):
            return dict(zip(pairs, await validator.classify(pairs, meter), strict=True))
    except (TimeoutError, BackendError, OverloadedError) as error:
        logger.warning("validator %s checked no edit: %r", validator.identity.id, error)
        return {}


def _refusal(opinions: Sequence[Entailment | Abstained | None]) -> Refusal | None:
    heard = [opinion for opinion in opinions if isinstance(opinion, Entailment)]
    if len(heard) < len(opinions):
        return Refusal.NOT_VALIDATED
    return Refusal.SAYS_THE_SAME if any(one.entails >= MAX_ENTAILED for one in heard) else None


def _open_sentences(plan: Plan, reading: Reading) -> list[_Sentence]:
    """Return the conclusions of the pivots in words that have no edit yet, the most promising first."""
    edited = {edit.step for edit in plan.edits}
    found = []
    for pivot in plan.pivots:
        last = last_conclusion(reading.trace.steps[pivot.step].blind_text) if pivot.claim is None else None
        if last is None or pivot.step in edited or len(last.group()) > MAX_SENTENCE_CHARS:
            continue
        text = last.group().strip().rstrip(_ENDS)
        start = last.end() - len(last.group().lstrip())
        found += [_Sentence(step=pivot.step, start=start, text=text)] if text else []
    return found


def _edits(
    plan: Plan, reading: Reading, target: Target | None, sentences: Sequence[_Sentence], proposed: dict[str, Proposed]
) -> list[tuple[Edit, str, str]]:
    """Return the proposals that break no constraint, each with the old sentence and the new one; discard the others."""
    mentioned = first_mentions(reading.trace)
    made = []
    for sentence in sentences:
        found = proposed.get(sentence.text)
        for text in () if found is None else dict.fromkeys(found.texts):
            plan.n_tried += 1
            new = (text or "").strip().rstrip(_ENDS)
            edit = _edit(sentence, new, reading) if new else Refusal.NO_PROPOSAL
            code = broken_constraint(edit, reading, target, mentioned) if isinstance(edit, Edit) else edit
            if isinstance(edit, Edit) and code is None:
                made.append((edit, sentence.text, new))
            elif code is not None:
                plan.discarded.append((sentence.step, code))
    return made


def _edit(sentence: _Sentence, new: str, reading: Reading) -> Edit | Broken:
    """Return the edit that puts a proposal in the place of its sentence; it is to change words in one place only."""
    old = sentence.text
    before, after = _WORD.findall(old), _WORD.findall(new)
    changes = [
        code for code in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if code[0] != "equal"
    ]
    if not changes:
        return Broken.VACUOUS
    if len(changes) > 1:
        return Broken.NOT_ATOMIC
    if [value for _, value in mentions(old)] != [value for _, value in mentions(new)]:
        return Broken.NOT_ISOLATED
    [(_, start, stop, new_start, new_stop)] = changes
    if len(before) - (stop - start) < MIN_KEPT * max(len(before), len(after)):
        return Broken.NOT_BOUNDED
    if start == stop or new_start == new_stop:  # words added, or taken out, are told by the one beside them
        ahead = 1 if start else 0
        start, new_start = start - ahead, new_start - ahead
        stop, new_stop = stop + 1 - ahead, new_stop + 1 - ahead
    text = reading.trace.steps[sentence.step].blind_text
    return Edit(
        step=sentence.step,
        claim=None,
        family=EditFamily.PROPOSED,
        text=text[: sentence.start] + new + text[sentence.start + len(old) :],
        old=" ".join(before[start:stop]),
        new=" ".join(after[new_start:new_stop]),
        predicted=None,
    )
