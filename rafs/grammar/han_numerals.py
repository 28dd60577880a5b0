"""Chinese and Japanese numerals and the words between them: `一百零一`, `百分之二十`, `加`, `等于`, `は`."""

import re
from fractions import Fraction
from typing import NamedTuple

from rafs.grammar.tokens import Kind

_DIGITS = {
    **{sign: value for value, sign in enumerate("零一二三四五六七八九")},
    **{sign: value for value, sign in enumerate("〇壹贰叁肆伍陆柒捌玖")},
    **{"两": 2, "兩": 2, "貳": 2, "參": 3, "陸": 6},
}
_SMALL = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_SIGNS = "".join([*_DIGITS, *_SMALL, *_LARGE])
_RUN = re.compile(rf"[{_SIGNS}]{{1,40}}")
_PARTS = re.compile(rf"([{_SIGNS}]{{1,20}})分之([{_SIGNS}]{{1,20}}|\d{{1,9}})(?:[点點]([{_SIGNS}]{{1,20}}))?")
_POINT = re.compile(rf"([{_SIGNS}]{{1,20}})[点點]([{''.join(_DIGITS)}]{{1,20}})")
_WORDS: dict[str, tuple[Kind, str]] = {
    **dict.fromkeys(["加上", "加", "足す", "たす"], (Kind.OPERATOR, "+")),
    **dict.fromkeys(["减去", "減去", "减", "減", "引く", "ひく"], (Kind.OPERATOR, "-")),
    **dict.fromkeys(["乘以", "乘", "掛ける", "かける"], (Kind.OPERATOR, "*")),
    **dict.fromkeys(["除以", "割る", "わる"], (Kind.OPERATOR, "/")),
    **dict.fromkeys(["等于", "等於", "イコール"], (Kind.RELATION, "=")),
    **dict.fromkeys(["约等于", "約等於"], (Kind.RELATION, "≈")),
    **dict.fromkeys(["大于", "大於"], (Kind.RELATION, ">")),
    **dict.fromkeys(["小于", "小於"], (Kind.RELATION, "<")),
    **dict.fromkeys(["是", "为", "為", "は"], (Kind.WORD, "is")),
    **dict.fromkeys(["得到", "得"], (Kind.WORD, "gives")),
    "的": (Kind.OPERATOR, "*"),
}
"""Signs of calculation where a number stands on both sides; otherwise parts of words: `加油`, `于是`."""
_BEFORE_NUMBER = rf"\s?(?=[\d(（\[$¥￥√π.\-−+{_SIGNS}负負半]|\\[a-zA-Z(\[])"
_CALCULATION = re.compile("(" + "|".join(sorted(_WORDS, key=len, reverse=True)) + ")" + _BEFORE_NUMBER)
_SHARE = re.compile(rf"\s?(?:[\d.]{{1,20}}\s?%|[{_SIGNS}]{{1,20}}分之|一半|[\d{_SIGNS}]{{1,20}}倍)")
_MARK = re.compile(rf"[{_SIGNS}负負]|一半|" + "|".join(sorted(_WORDS, key=len, reverse=True)))
_NOT_COUNTED = re.compile(
    "一(?:共|般|样|樣|起|定|些|旦|直|切|致|下|边|邊|方面|开始|開始|次性)|三角|四边|四邊|五角|六边|十分|万一|千万|百分比|两者|兩者"
)
"""Words that begin with a numeral and count nothing."""
UNITS = {
    **dict.fromkeys(["元", "块", "円", "圆"], "yuan"),
    **dict.fromkeys(["米"], "m"),
    **dict.fromkeys(["克"], "g"),
    **dict.fromkeys(["天", "日"], "days"),
    **dict.fromkeys(["年", "岁", "歳"], "years"),
    **dict.fromkeys("个個只隻本张張条條件人名位颗朵枝支箱盒袋包杯瓶页頁次倍題题分票匹头頭", "pieces"),
}
"""Measure words of one sign in a spelling that no name of one letter has."""


class Han(NamedTuple):
    """One piece of a run of Chinese or Japanese letters."""

    kind: Kind
    text: str
    start: int
    end: int
    value: Fraction = Fraction(0)
    percent: bool = False


def read_han(text: str, start: int, end: int, *, after_number: bool, after_share: bool) -> list[Han]:
    """Cut a run of letters into numerals, words of calculation and other words.

    Args:
        text: Any text.
        start: Where the run begins.
        end: Where it ends; a sign of calculation looks for its number behind that.
        after_number: Whether a number stands right before it, so that `加` may begin it.
        after_share: Whether that number is a share, so that `的` multiplies what follows.
    """
    pieces: list[Han] = []
    position = begun = start
    counts, is_share = after_number, after_share
    while position < end and (mark := _MARK.search(text, position, end)) is not None:
        piece = _numeral(text, mark.start()) or (_calculation(text, mark.start(), is_share) if counts else None)
        if piece is None or piece.end > max(end, mark.end() + 20):
            run = _RUN.match(text, mark.start(), end)
            position = mark.end() if run is None else run.end()
            continue
        if piece.start > begun:
            pieces.append(_word(text, begun, piece.start))
        pieces.append(piece)
        counts, is_share = piece.kind is Kind.NUMBER, piece.value.denominator > 1
        position = begun = piece.end
    return [*pieces, _word(text, begun, end)] if begun < end else pieces


def _word(text: str, start: int, end: int) -> Han:
    return Han(Kind.WORD, UNITS.get(text[start:end], text[start:end]), start, end)


def _calculation(text: str, position: int, is_share: bool) -> Han | None:
    found = _CALCULATION.match(text, position)
    if found is None or (found[1] == "的" and not is_share and not _SHARE.match(text, found.end(1))):
        return None
    kind, canonical = _WORDS[found[1]]
    return Han(kind, canonical, position, found.end(1))


def _numeral(text: str, position: int) -> Han | None:
    """Read a numeral, a fraction, a percentage, or a minus word at a place."""
    if text[position] in "负負":
        behind = text[position + 1 : position + 2]
        signed = behind.isdecimal() or behind in _SIGNS
        return Han(Kind.OPERATOR, "-", position, position + 1) if behind and signed else None
    if text.startswith("一半", position):
        return Han(Kind.NUMBER, "", position, position + 2, Fraction(1, 2))
    if (parts := _PARTS.match(text, position)) is not None:
        return _fraction(parts)
    if (point := _POINT.match(text, position)) is not None and (whole := _whole(point[1])) is not None:
        value = whole + Fraction(int(_positional(point[2])), 10 ** len(point[2]))
        return Han(Kind.NUMBER, "", position, point.end(), value)
    run = _RUN.match(text, position)
    if run is None or _NOT_COUNTED.match(text, position):
        return None
    whole = _whole(run.group())
    return None if whole is None else Han(Kind.NUMBER, "", position, run.end(), Fraction(whole))


def _fraction(parts: re.Match[str]) -> Han | None:
    """Read `三分之二` (two of three) and `百分之二十五点五` (per hundred)."""
    percent = parts[1] == "百"
    bottom = 100 if percent else _whole(parts[1])
    top = int(parts[2]) if parts[2].isdecimal() and parts[2].isascii() else _whole(parts[2])
    if not bottom or top is None:
        return None
    value = Fraction(top)
    if parts[3]:
        digits = _positional(parts[3])
        value += Fraction(int(digits or "0"), 10 ** len(parts[3]))
    return Han(Kind.NUMBER, "", parts.start(), parts.end(), value / bottom, percent)


def _positional(signs: str) -> str:
    return "".join(str(_DIGITS[sign]) for sign in signs if sign in _DIGITS)


def _whole(signs: str) -> int | None:
    """Compute `两千零五`, `十二`, `三万二`, or a row of digits such as `二〇二四`; None where it is no number."""
    if all(sign in _DIGITS for sign in signs):
        return int(_positional(signs)) if len(signs) == 1 or "〇" in signs or len(signs) > 2 else None
    total = section = digit = 0
    pending, last_small, last_large = False, 10**4, 10**16
    for sign in signs:
        if sign in _DIGITS:
            if pending and digit:
                return None
            digit, pending = _DIGITS[sign], True
        elif sign in _SMALL:
            unit = _SMALL[sign]
            if unit >= last_small or (not pending and unit != 10) or (pending and not digit and unit != 10):
                return None
            section, digit, pending, last_small = section + (digit or 1) * unit, 0, False, unit
        else:
            unit = _LARGE[sign]
            if unit >= last_large or not section + digit:
                return None
            total, section, digit, pending = total + (section + digit) * unit, 0, 0, False
            last_small, last_large = 10**4, unit
    if pending and len(signs) > 1 and (unit := {**_SMALL, **_LARGE}.get(signs[-2], 10)) > 10:
        digit *= unit // 10  # 三万二 is 32000
    return total + section + digit
