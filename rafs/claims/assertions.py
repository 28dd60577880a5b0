"""Says whether a sentence asserts the relation in it, or denies it, asks about it, or makes it a condition."""

import re
from collections.abc import Sequence, Set

from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.tokens import BREAK, Token
from rafs.types import Span

DENIAL_REACH = 60
"""Characters around a relation in which a denial is looked for."""
_ASSUMING = (
    "if,suppos,assum,imagin,pretend,whether,unless,were,should,such that,check that,had ,say,probability,chance,"
    "condition,hypothesis,requirement,provided,long as,world,true or false,verify,show,prove,argument".split(",")
)
_CONDITIONAL = GatedPattern(
    r"\b(?:if|suppose|supposing|assume|assuming|imagine|pretend|whether|unless|were|should|such that|check that"
    r"|(?-i:Had) \w{1,12}(?: \w{1,12})?"
    r"|(?:(?:^|[.!?\n]\s{0,2})(?:now,? )?|\blet's |\blet us )say"
    r"|(?:^|[.!?:\n]\s{0,2})(?:verify that|show that|prove)|need to (?:show|prove|verify)"
    r"|(?:^|[.!?,;\n]\s{0,2})provided|provided that|as long as|in a world (?:where|in which)|true or false"
    r"|for (?:the sake of argument|argument's sake)(?:,? take)?"
    r"|(?:probability|chance|condition|assumption|hypothesis|requirement) (?:that|is))"
    r"(?:[ ,:]{1,2}(?:for|the|sake|of|a|an|contradiction|argument|instead|now|we|you|that|it|were|is|was|true|had|said"
    r"|say|to|contrary|on|only|hypothetically|somehow|let's|claim|moment|second|minute|while|just|briefly|wrongly"
    r"|been|case that|believe|incorrectly|falsely|someone|somebody|everyone)){0,7}[^\w]{0,3}$",
    _ASSUMING,
    lead=20,
)
"""Words that make what follows them a condition; a clause of its own behind `if` is an assertion still."""
_SAYING = r"(?:say|saying|claim|mean|imply|write|think|believe|guess|argue)"
_REPORTED = GatedPattern(
    r"(?:(?<!\bI )(?<!\bwe )\b(?:claims|claimed|says|thinks|thought|believes|believed|wrote|writes|guesses|guessed"
    r"|argues)"
    r"|\b(?:nobody|no one|nothing|never|would|wouldn't|will not|won't|not|don't|might|may|could|often) (?:\w{1,12} )?"
    rf"{_SAYING}"
    r"|\baccording to (?:(?:the|a|one|my|his|her|our|this|that) (?:student|friend|classmate|child|boy|girl|user)"
    r"|(?-i:[A-Z])\w{1,12}))(?: (?:that|it|down))?[^\w]{0,3}$",
    "claim say think thought believ wrote writ guess argu mean impl according".split(),
)
"""What somebody else says, or nobody, is not what the writer asserts."""
_DENYING = (
    "not,n't,true,false,correct,wrong,mistake,errone,never,misconception,impossible,contradict,error,rather,instead,"
    "neither,nor,slip,tempt,student,no way,doubt,✗,✘,❌".split(",")
)
_WRONG = r"not (?:true|correct|right)|untrue|false|wrong|incorrect|an? (?:contradiction|mistake|error|falsehood|typo)"
_DENIED_BEFORE = GatedPattern(
    r"(?:\b(?:(?:not|\w{2,6}n't) (?:true|correct|the case)|untrue|false|incorrect|incorrectly|wrong|wrongly|mistakenly"
    r"|erroneously|cannot be|can't be|never the case|mistake|misconception|impossible|contradict(?:s|ion)?)\b"
    r"(?:(?!\b(?:so|thus|hence|therefore|because|since|but|instead)\b)[^.!?\n;:]){0,40}"
    r"|(?:^|[.!?\n]\s{0,3})(?:an? |the )?(?:(?:wrong|incorrect|false|not true)"
    r"(?: (?:way|step|approach|method|solution|calculation|attempt|reasoning))?|(?:common )?(?:mistake|error))"
    r"\s?:[^\w]{0,3}|\b(?:doubt|no way)(?: that)?[^\w]{1,3}"
    r"|\b(?:error|slip|tempting|temptation|students?(?:'s?)?(?: \w{1,12})?)(?: (?:is|was|to|say|write|answer|claim"
    r"|conclude|that|get|got|error|mistake)){1,4}[^\w]{0,3}|\b(?:error|mistake)\s?:[^\w]{0,3}|[✗✘❌][^\w]{0,3}"
    r"|\b(?:cannot|can't|never|(?:could|do|does|did)(?: not|n't)) (?:have|get|be|say|write|claim|conclude)"
    r"(?: that| it)?[^\w]{1,3}"
    r"|\b(?:not|rather than|instead of|neither|nor)[^\w]{1,3})$",
    _DENYING,
)
_DENIED_AFTER = re.compile(
    r"[^\w]{0,6}+(?:but )?(?:(?:which |that |this |it )?(?:"
    r"(?:is|was|would be|are|seems|looks|appears|sounds|must be|has to be)"
    rf"(?: (?:clearly|obviously|of course|simply|just))? (?:{_WRONG}|not (?:possible|valid|the case|what|equal|defined)"
    r"|impossible|absurd|nonsense|undefined|indeterminate|meaningless)"
    r"|(?:isn't|wasn't) (?:true|correct|right|possible|valid)"
    r"|(?:does not|doesn't|cannot|can't|could not) (?:hold|be|work)|fails\b"
    r"|would (?:imply|mean|give|contradict|be)|contradicts|contains an? (?:error|mistake)|for the sake of argument)"
    r"|a contradiction)",
    re.IGNORECASE,
)
_MARKED_WRONG = re.compile(
    rf"\s?[(\[](?:(?:{_WRONG})\b|no[,.!)\]])|\s?(?:--?|[,—–←])\s?(?:{_WRONG})(?=\s?(?:[.,;:!)\n]|\Z))", re.IGNORECASE
)
"""A remark behind a right side, or inside it, which takes in the remarks of its unit: `= 10 apples (wrong)`."""
_UNIVERSAL = GatedPattern(r"\bfor (?:all|every|any|each)\b(?P<named>[^.!?\n;]{0,40})$", ["for "])
_UNIVERSAL_BEHIND = re.compile(
    r"[^\w.]{0,6}+(?:(?:is true|holds) )?for (?:all|every|any)\b(?![^.;\n]{0,40}?(?:[<>≤≥≠∈]|\\[lgn]"
    r"|\b(?:such|where|with|in|which|satisf\w{1,5}|between|when|if)\b))(?P<named>[^.;\n]{0,40})",
    re.IGNORECASE,
)
_ANY_NUMBER = re.compile(r"\b(?:values?|numbers?|reals?|integers?)\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<![\w\\])[A-Za-z](?:_\{?\w\}?)?(?!\w)")
_OF = re.compile(r"\b(?:of|in|for|with|by)\s*\W{0,4}$", re.IGNORECASE)
_DIGIT_OF = re.compile(
    r"\b(?:digits?|number|power|factors?|remainder|form|multiple|divisors?)\b[^.]{0,50}$", re.IGNORECASE
)
"""Before a left side: what follows speaks of something of it, not of its value (`the last digit of 2^5 is 2`)."""
_SENTENCE_ENDS = frozenset([".", "?", "!", "\n", ";", "。", "！", "？", "；"])


def is_conditional(text: str, start: int) -> bool:
    """Say whether the expression that starts there is a condition."""
    return _CONDITIONAL.search(text[max(0, start - DENIAL_REACH) : start]) is not None


def is_reported(text: str, start: int) -> bool:
    """Say whether the expression that starts there is what somebody else says."""
    return _REPORTED.search(text[max(0, start - DENIAL_REACH) : start]) is not None


def is_denied(text: str, tokens: Sequence[Token], left: Span, right: Span, after: int) -> bool:
    """Say whether the sentence denies the relation or asks about it."""
    if _DENIED_BEFORE.search(text[max(0, left.start - DENIAL_REACH) : left.start]):
        return True
    read_end = tokens[after - 1].end if right.start < right.end else right.end
    if _DENIED_AFTER.match(text[right.end : right.end + DENIAL_REACH]):
        return True
    if _MARKED_WRONG.search(text, right.start, right.end) or _MARKED_WRONG.match(text, max(right.end, read_end)):
        return True
    for token in tokens[after : after + DENIAL_REACH]:
        if token.kind is BREAK and token.text in _SENTENCE_ENDS:
            return token.text in "?？"
    return False


def is_option(text: str, start: int) -> bool:
    """Say whether the expression that starts there is one of several choices: `A) 3 + 4 = 8 B) 3 + 4 = 7`."""
    first = max(0, start - OPTION_REACH)
    if _LETTERS.isdisjoint(text[first:start]):
        return False
    label = _OPTION.search(text, first, start)
    return label is not None and len({found.group(1) for found in _OPTIONS.finditer(text)}) > 1


_LETTERS = frozenset("ABCDE")
OPTION_REACH = 8
"""Characters of an option's label before its text."""
_OPTION = re.compile(r"(?<![^\s(*])\(?\*{0,2}([A-E])[).:]\*{0,2}\s{0,3}\$?\Z")
_OPTIONS = re.compile(r"(?<![^\s(*])\(?\*{0,2}([A-E])[).:]\*{0,2}\s")


def is_universal(text: str, start: int, end: int, names: Set[str]) -> bool:
    """Say whether the relation text[start:end] is stated for every value of all of its names."""
    told = _UNIVERSAL.search(text[max(0, start - DENIAL_REACH) : start])
    told = told or _UNIVERSAL_BEHIND.match(text, end, end + DENIAL_REACH)
    if told is None:
        return False
    named = set(_LETTER.findall(told["named"]))
    return names <= named if named else _ANY_NUMBER.search(told["named"]) is not None


def speaks_of_property(text: str, start: int, *, whole: bool = False) -> bool:
    """Say whether the words before an expression speak of something of it, not of its value.

    Args:
        text: A step.
        start: Where the expression begins.
        whole: Whether the expression holds words of its own, before which `of` says nothing.
    """
    before = text[max(0, start - DENIAL_REACH) : start]
    return _DIGIT_OF.search(before) is not None or (not whole and _OF.search(before) is not None)
