"""Cutting a text into atomic segments that tile it: lines, list items and sentences, nothing cut open."""

import bisect
import re
from itertools import pairwise

from rafs.splitting.markup import atomic_spans
from rafs.types import ANSWER_PLACEHOLDER

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_SCRIPT_STOPS = "。！？｡।॥؟۔։።"
"""Full stops of scripts that put no space behind a sentence, or whose stop means nothing else."""
_STOP = re.compile(rf"[.!?…]+|[{_SCRIPT_STOPS}]")
_STOPS = ".!?" + _SCRIPT_STOPS
_CLOSERS = re.compile(r"(?:[\"'”’»)\]*_\u200b\ufeff\x00]|\[\d{1,3}\]){0,6}")
_BLANK = re.compile("[\\s\u200b\ufeff]*")
_WORD_BEFORE = re.compile(r"[A-Za-zа-я][A-Za-zа-я.]{0,11}$")
_HASH_MARK = re.compile(r"(?<=\s)####(?!#)")
_LIST_MARK = re.compile(r"\s*(?:[-*+•–]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,5})[.)]|#\d{1,3}\.)(?=\s)")
_LABEL_ONLY = re.compile(
    r"[\s#*_>-]*(?:(?:step|part|case|schritt|étape|paso)\s*\w{1,6}|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,5})[.)]|[-*+•–])?[\s:.)*_–-]*",
    re.IGNORECASE,
)
_BOLD_VALUE = re.compile(r"\s*(?:\*\*|__)\s?[-−]?[$€£]?\d[\d.,/]{0,20}\s?%?[.]?(?:\*\*|__)[\s.]*")
"""A value set off in its own line: no heading."""
STEP_MARK = re.compile(
    r"[\s#*_>]{0,20}(?:[-+•–]\s{1,4})?(?:(?:step|part|case)\s?\d{1,3}\s?[:.)-]?|\(?\d{1,3}[.)](?=\s)|#\d{1,3}\.?)?[\s*_:]{0,10}",
    re.IGNORECASE,
)
"""List number or `Step 3:` at the head of a segment; its number is no quantity. Always matches."""
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]{1,120}\*\*[\s:.]*$|__[^_]{1,120}__[\s:.]*$)")
_TABLE_ROW = re.compile(r"\s{0,20}(?:\||[^|\n]{1,60}\s\|\s[^|\n]{1,60}(?:\s\|\s[^|\n]{1,60}){0,9}\s*\Z)")
_DISPLAY = re.compile(r"\s*(?:\\\[|\$\$|\\begin\{)")
_AFTER_DISPLAY = re.compile(r"\s{1,20}(?=[A-Z][a-z]|\\\[|\$\$)")
_CHAINED = re.compile(r"\s*(?:=|≈|\\approx|&=|\\implies|⇒)")
_WRAPPED = re.compile(r"\s*(?!(?:so|then|hence|thus|therefore)\b)[a-z]{2,}\s")
_BROKEN_OFF = re.compile(
    r"\s(?:and|or|of|the|an?|to|by|with|for|from|in|is|are|than|that|[-+*/=])[ \t]*(?:\r\n|\r|\n)\Z"
)
"""The end of a line that goes on in the next one."""
_NEW_THOUGHT = re.compile(r"\s*(?:Therefore|Thus|Hence|So|Then|Finally|Step|Final|Answer)\b")
_TAIL = 20
_WHERE = re.compile(r"\s*(?:where|with|and|for|which)\s")
_WRAP_MIN_CHARS = 60  # a shorter line without a full stop is a line of its own, not wrapped prose
_LABEL_MAX_CHARS = 200  # a longer line is not a heading
_LIST_MARK_CHARS = 12
_NEXT_WORD = re.compile(r"\s+[\"'“*_$\\]*([(\[]?)[\"'“*_$\\]*(\w+)?")
_GLUED_WORD = re.compile(r"([A-Z][a-z]+)\s")
_QUOTES = "\"'”’»"
_JOINTS = tuple(",+*×·-−=<≤")
_CAPITALISED = re.compile(r"\s*[A-Z][a-z]")
_OPERATOR = re.compile(r"\s*(?:[+*×·/^=<>≤≥≈]|[-−–](?=\s?[\w(])|\\[A-Za-z])")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FACTORIAL = re.compile(r"(?:\d|\)|(?<![A-Za-z])(?P<name>[A-Za-z]))\Z")
_LIST_NUMBER = re.compile(r"[\s*_#>(]{0,8}(?:\d{1,3}(?:\.\d{1,3}){0,3}|[A-Za-z]|[ivx]{2,5})")
_NAME_BEFORE = re.compile(
    r"(?:^|[.]|\b(?!(?:Option|Choice|Angle|Point|Line|Side|Set|Case|Part|Plan|Pick|Choose|Select|Type|Group|Team|Class|Grade|Size|Box|Card"
    r"|Figure|Machine|Company|Vitamin|Player|Person|Event)\b)[A-Z][a-z]+)\s*$"
)
"""A letter behind one of these nouns is a label, no initial."""
_IS = re.compile(r"\s(?:has|had|have|is|was|buys|sold|sells|earns|makes|gets|runs|ran|and)\s")
"""What a person does, behind an initial: `Anna B. has 5`."""
_NAME_GAP = 20  # characters before an initial in which the name it belongs to is looked for
_INITIALS_GAP = 12  # longest word looked at before a full stop

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st mt mts gen rev sen gov capt sgt lt col hon messrs vs i.e e.g ie eg approx fig figs eq eqs cf"
    " resp dept ca u.s u.k viz est eqn ex vol ch sec pp arts incl excl z.b bzw d.h p.ej sra srta"
    " mme mlle nr hr fr hrn т.е т.д т.к".split()
)
"""They end no sentence, whatever follows."""
_NUMBERED = frozenset("no nos thm prop lem cor def tab app ref alg prob p ques".split())
"""They end a sentence but before a number."""
_UNIT_ABBREVIATIONS = frozenset(
    "etc a.m p.m ft in oz lb lbs hr hrs min mins inc ltd corp co yr yrs mo mos wk wks avg max jr sr al"
    " sq cu yd yds mi km cm mm kg mg ml gal gals qt qts pt pts doz tsp tbsp sec secs dept ave blvd rd hwy apt bldg rm"
    " jan feb mar apr jun jul aug sept oct nov dec mon tue wed thu fri sat sun std usw".split()
)
"""They end a sentence only before a capital letter."""
_DAYS_AND_ZONES = frozenset(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday EST EDT CST CDT MST MDT PST PDT GMT UTC CET BST".split()
)
"""They go with the time of day before them."""
_ONLY_IN = re.compile(r"(?:.{0,200}[.!?]\s)?(?:At|By|In|On|From|Before|After|Until|Since|Every|Each)\s", re.DOTALL)
_TITLE = re.compile(
    r"(?:\bHr|(?:^|\b(?:[Ee]l|[Dd]el|[Aa]l|[Oo]|[Dd]o)\s)Sr|(?:^|\s)(?!A\.M|P\.M)[A-Z]\.[A-Z](?:\.[A-Z])?)\Z",
    re.MULTILINE,
)
"""A title that elsewhere is a unit or stands behind a name, and two initials: `El Sr. Paz`, `J.K. Lee`."""
_GERMAN_MONTHS = frozenset("Januar Februar März Mai Juni Juli Oktober Dezember".split())
_CLOCK = re.compile(_ONLY_IN.pattern + r"\d{1,2}(?::\d\d)?\s?[AaPp]\.\s?[Mm]", re.DOTALL)
"""A sentence that so far says only when: the time's full stop does not end it."""
_DATES = frozenset("jan feb mar apr jun jul aug sept oct nov dec mon tue wed thu fri sat sun".split())
_STARTERS = frozenset(
    "The It He She They We I You So This That These Those Then Therefore Thus Hence In If Since Now Next Finally"
    " First Second After Each Every There Our Let As And But To For What How".split()
)


def split_spans(text: str) -> list[tuple[int, int]]:
    """Return contiguous [start, end) segments that tile the text; none where nothing is to be seen.

    A segment is a sentence, a list item's sentence, a line, a table or a block of display maths or code,
    with its heading or list mark before it and the white space behind it. Linear in the text.
    """
    if _BLANK.fullmatch(text):
        return []
    atoms = atomic_spans(text)
    segments: list[tuple[int, int]] = []
    last = ""
    for start, end in _pieces(text, atoms):
        piece = text[start:end]
        if segments and _glued(last, piece):
            segments[-1] = (segments[-1][0], end)
            last = piece if _has_word(piece) else last if last.endswith("\n\n") else f"{last}\n"
        else:
            segments.append((start, end))
            last = piece
    if len(segments) > 1 and _is_label(last):
        start, end = segments.pop()
        segments[-1] = (segments[-1][0], end)
    return segments


def _pieces(text: str, atoms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Cut at every line end and sentence end that lies in no atom."""
    starts = [start for start, _ in atoms]

    def inside(position: int) -> bool:
        at = bisect.bisect_right(starts, position - 1) - 1
        return at >= 0 and position < atoms[at][1]

    cuts = [0]
    lines = [end.end() for end in _LINE_END.finditer(text) if not inside(end.start())]
    if not lines or lines[-1] < len(text):
        lines.append(len(text))
    begin = 0
    for start, end in atoms:
        closed = text.startswith(("\\[", "$$"), start) or text[start:end].endswith((".$", ".\\)"))
        if closed and (behind := _AFTER_DISPLAY.match(text, end)):
            cuts.append(behind.end())
    for end in lines:
        cuts += [cut for cut in _sentence_cuts(text, begin, end) if not inside(cut)]
        cuts.append(end)
        begin = end
    cuts = sorted({cut for cut in cuts if cut < len(text)} | {len(text)})
    return list(pairwise(cuts))


def _sentence_cuts(text: str, begin: int, end: int) -> list[int]:
    """Return the offsets inside one line where a new sentence (or a `####` mark) begins."""
    cuts = [mark.start() for mark in _HASH_MARK.finditer(text, begin, end)]
    if _TABLE_ROW.match(text, begin, end):
        return cuts
    last_bracket = text.rfind(")", begin, end)
    depth, seen = 0, begin
    for stop in _STOP.finditer(text, begin, end):
        depth = max(0, depth + text.count("(", seen, stop.start()) - text.count(")", seen, stop.start()))
        seen = stop.start()
        if depth and stop.end() < last_bracket:
            continue
        closers = _CLOSERS.match(text, stop.end(), end)
        after = closers.end() if closers else stop.end()
        if _ends_sentence(text, begin, stop, after, end):
            while after < end and text[after].isspace():
                after += 1
            cuts.append(after)
    return [cut for cut in cuts if begin < cut < end]


def _ends_sentence(text: str, begin: int, stop: re.Match[str], after: int, end: int) -> bool:
    """Say whether the punctuation `stop`, its closing quotes ending at `after`, ends a sentence."""
    if stop.group()[0] in _SCRIPT_STOPS:
        return True
    if _is_gap_of_series(text, stop, after, end):
        return False
    rest = text[after : min(end, after + 40)]
    following = _NEXT_WORD.match(rest)
    if following is None:
        if stop.group() != "." and _IDEOGRAPH.match(rest):
            return True
        glued = _GLUED_WORD.match(rest)
        return glued is not None and glued[1] in _STARTERS and text[stop.start() - 1 : stop.start()].isalnum()
    word = following[2] or ""
    if stop.group() == "!" and (factor := _FACTORIAL.search(text, max(begin, stop.start() - 3), stop.start())):
        return bool(word[:1].isupper()) or (factor["name"] is not None and not word)
    quoted = any(text.find(mark, stop.end(), after) >= 0 for mark in _QUOTES)
    if stop.group() != ".":
        return not (word[:1].islower() and (quoted or stop.group()[0] in ".…"))
    if quoted and word[:1].islower():
        return False
    return not _is_abbreviation(text, begin, stop.start(), following[1] + word)


def _is_gap_of_series(text: str, stop: re.Match[str], after: int, end: int) -> bool:
    """Say whether `...` stands for the terms left out between others: `1 + 2 + ... + 9`, `2, 4, ... 20`."""
    if stop.group()[0] != "…" and not stop.group().startswith(".."):
        return False
    before = text[max(0, stop.start() - 3) : stop.start()].rstrip()[-1:]
    return (before in _JOINTS and not _CAPITALISED.match(text, after, end)) or bool(_OPERATOR.match(text, after, end))


def _is_abbreviation(text: str, begin: int, dot: int, following: str) -> bool:
    """Say whether the full stop at `dot` belongs to an abbreviation, an initial or a list number."""
    if dot - begin <= _LIST_MARK_CHARS and _LIST_NUMBER.fullmatch(text, begin, dot):
        return True
    if following in _GERMAN_MONTHS and text[dot - 1].isdigit():
        return True
    before = _WORD_BEFORE.search(text, max(begin, dot - _INITIALS_GAP), dot)
    if before is None or following in _STARTERS:
        return False
    word = before.group().lower()
    if _TITLE.search(text, max(begin, dot - _NAME_GAP), dot):
        return True
    if word in _NUMBERED:
        return following[:1].isdigit() or ANSWER_PLACEHOLDER.startswith(following or ".")
    if word in ("a.m", "p.m") and (following in _DAYS_AND_ZONES or _CLOCK.fullmatch(text, begin, dot)):
        return True
    if word in _DATES and _ONLY_IN.fullmatch(text, begin, before.start()):
        return True
    if word in _UNIT_ABBREVIATIONS or ("." in word and word not in _ABBREVIATIONS):
        return not following[:1].isupper()
    initial = len(word) == 1 and before.group().isupper() and (following[:1].isupper() or _IS.match(text, dot + 1))
    names = initial and _NAME_BEFORE.search(text[max(begin, dot - _NAME_GAP) : before.start()]) is not None
    return names or word in _ABBREVIATIONS


def _has_word(piece: str) -> bool:
    return any(char.isalnum() for char in piece)


def _is_label(piece: str) -> bool:
    """Say whether a piece is only a heading, a list mark or `Step 3:`; it belongs to what follows."""
    if len(piece) > _LABEL_MAX_CHARS or ANSWER_PLACEHOLDER in piece or _BOLD_VALUE.fullmatch(piece):
        return False
    return _HEADING.match(piece) is not None or _LABEL_ONLY.fullmatch(piece.strip()) is not None


def _glued(last: str, piece: str) -> bool:
    """Say whether `piece` belongs to the segment whose latest piece is `last`."""
    if not _has_word(piece) or not _has_word(last) or _is_label(last):
        return not _starts_hash(piece)
    ending = last.rstrip().rstrip("*_")[-1:]
    if ending == ":":
        return _LIST_MARK.match(piece) is None and not _HEADING.match(piece)
    rows = last.lstrip().startswith("|") and piece.lstrip().startswith("|")
    if rows or _CHAINED.match(piece) or (_DISPLAY.match(last) and _WHERE.match(piece)):
        return True
    if ending in _STOPS or _DISPLAY.match(piece):
        return ending not in _STOPS and not last.rstrip().endswith(("\\]", "$$"))
    if _BROKEN_OFF.search(last, max(0, len(last) - _TAIL)):
        return _NEW_THOUGHT.match(piece) is None
    return len(last) >= _WRAP_MIN_CHARS and _WRAPPED.match(piece) is not None


def _starts_hash(piece: str) -> bool:
    return piece.lstrip().startswith("####") and _has_word(piece)
