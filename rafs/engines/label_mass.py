"""Probability mass on the two labels of a probe, over the ways a model may spell them."""

import math
from collections.abc import Mapping

from rafs.engines.prompt_tokens import PartTokenizer
from rafs.errors import ConfigError
from rafs.types import Abstained, LabelMass, Why

MIN_LABEL_MASS = 0.01
"""Below 1 % on both labels together the model was saying something else, and their ratio is noise."""

Labels = tuple[str, str]
"""(yes, no)"""
_SPACES = str.maketrans("Ġ▁Ċ", "   ")
_AROUND = " \n\r\t*_`\"'“”‘’([{<>}]).,:;!"
"""What a token may hold around a label."""


def label_spellings(label: str) -> list[str]:
    """Return how a model may spell a label: its cases, with and without a space before."""
    cases = dict.fromkeys((label, label.lower(), label.upper()))
    return [space + case for case in cases for space in ("", " ")]


def label_ids(tokenizer: PartTokenizer, label: str) -> tuple[int, ...]:
    """Return the tokens that spell a label alone.

    Raises:
        ConfigError: No spelling is one token.
    """
    spellings = label_spellings(label)
    # Some tokenizers put a space before whatever stands first: the reply to a chat then begins without one.
    ids = tuple(dict.fromkeys([*tokenizer.single_ids(spellings), *tokenizer.single_ids(spellings, after="\n")]))
    if not ids:
        raise ConfigError(f"no spelling of the label {label!r} is one token of this model; choose other labels")
    return ids


def opinion(mass: LabelMass) -> LabelMass | Abstained:
    """Return the mass, or an abstention where there is too little of it."""
    if mass.yes + mass.no < MIN_LABEL_MASS:
        return Abstained(why=Why.NO_LABELS, detail=f"mass {mass.yes + mass.no:.2g} on both labels together")
    return mass


def read_label_mass(logprobs: Mapping[str, float], labels: Labels) -> LabelMass | Abstained:
    """Sum the labels' spellings in a server's list of likely tokens.

    Args:
        logprobs: Token text -> natural log-probability. Vocabularies' own marks for a space are understood, and so
            is a label with a quote, a star or a full stop in its token.
        labels: The two labels.

    Returns:
        `Abstained(NO_LABELS)` also where only one label is listed: the other's mass is then unknown, not zero.
    """
    said = [(_bare(token), math.exp(logprob)) for token, logprob in logprobs.items()]
    listed = [[mass for text, mass in said if text == label.casefold()] for label in labels]
    if not all(listed):
        missing = [label for label, found in zip(labels, listed, strict=True) if not found]
        return Abstained(why=Why.NO_LABELS, detail=f"not among the listed tokens: {', '.join(missing)}")
    return opinion(LabelMass(yes=sum(listed[0]), no=sum(listed[1])))


def _bare(token: str) -> str:
    """Return the word in a token."""
    return token.translate(_SPACES).strip(_AROUND).casefold()
