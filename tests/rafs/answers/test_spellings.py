"""Which spellings of an answer are one: signs of Unicode, names of letters, commas, units, braces."""

import pytest

from rafs.answers.equivalence import equivalent
from rafs.types import Truth

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
TABLE: list[tuple[str, str, str, Truth]] = [
    ("raised letter is a power", "5ᵏ", "5^k", T),
    ("raised letter is no factor", "5ᵏ", "5k", F),
    ("raised sum", "7ⁿ⁻¹", "7^{n-1}", T),
    ("raised ending", "4ᵗʰ", "4th", T),
    ("lowered digit is an index", "t₅", "t_{5}", T),
    ("lowered digit is no digit", "13₅", "135", F),
    ("lowered base", "13₅", "8", T),
    ("lowered letter", "bₖ", "b_k", T),
    ("index on the line", "t₅", "t5", U),
    ("formula on the line", "CO₂", "CO2", T),
    ("ordinal sign for degrees", "55º", "55^\\circ", T),
    ("ring for degrees", "55˚", "55°", T),
    ("Greek letter", "η", "\\eta", T),
    ("Greek letters in a product", "7βγ", "7\\gamma\\beta", T),
    ("Greek letter in words", "rho", "ρ", T),
    ("Greek angle", "r \\sin\\psi", "r sin ψ", T),
    ("Greek letter is no unit", "6 \\mu", "6", F),
    ("micrometres", "6 \\mu m", "6 μm", T),
    ("Greek label", "κ = 7", "7", T),
    ("Greek labels", "κ = 7", "\\kappa = 8", F),
    ("prime", "g′", "g'", T),
    ("divides for a bar", "∣y∣", "|y|", T),
    ("angle sign", "∠KLM", "\\angle KLM", T),
    ("decimal comma below one", "0,625", "5/8", T),
    ("decimal comma below one is no thousand", "0,625", "625", F),
    ("negative decimal comma", "-0,04", "-1/25", T),
    ("decimal comma with a unit", "0,625 kg", "625 g", T),
    ("list without blanks beside one with", "6,11", "6, 11", T),
    ("list without blanks beside a set", "6,11", "\\{11, 6\\}", T),
    ("unit over unit", "40 \\frac{\\text{mi}}{\\text{h}}", "40 mph", T),
    ("unit over a power", "7 \\frac{\\mathrm{g}}{\\mathrm{cm}^3}", "7 g/cm^3", T),
    ("amount over unit", "\\frac{7 \\text{ km}}{\\text{s}}", "7 km/s", T),
    ("bare unit over unit", "40 \\frac{km}{min}", "40", T),
    ("letters over letters", "40 \\frac{m}{h}", "40 m/h", U),
    ("price of an hour", "$18/hr", "$18 per hour", T),
    ("half a unit", "half a minute", "30 seconds", T),
    ("part of a unit", "three quarters of an hour", "45 min", T),
    ("spelled number in another unit", "three hours", "180", U),
    ("standing words are no names", "Yes", "True", T),
    ("infinity at the wrong end", "(7, \\infty)", "(7, -\\infty)", F),
    ("both infinities at the wrong end", "(\\infty, -\\infty)", "(-\\infty, \\infty)", F),
    ("above infinity", "x < \\infty", "x > \\infty", U),
    ("braces of a set", "{4,9}", "\\{9, 4\\}", T),
    ("member of a set in braces", "t \\in {4, 9}", "{4,9}", T),
    ("braces around thousands", "{4,900}", "4900", T),
    ("letter for a union", "[4, 5] U [7, 9]", "[4, 5] \\cup [7, 9]", T),
    ("point in a union", "(4, 7) \\cup \\{9\\}", "(4, 7)", F),
    ("point that closes an interval", "(4, 7) \\cup \\{7\\}", "(4, 7]", T),
    ("listed intervals", "(4, 5), (7, 9)", "(4, 5) \\cup (7, 9)", U),
    ("solutions of a system", "x=4, y=7 or x=5, y=8", "(4,7), (5,8)", T),
    ("solutions of a system crossed", "x=4, y=7 or x=5, y=8", "x=4, y=8 or x=5, y=7", F),
    ("things counted", "4 figs and 7 plums", "7 figs and 4 plums", F),
    ("numbered things", "Gate 4", "Gate 7", F),
    ("equal names", "c = d", "d = c", T),
    ("option as a value", "x = D", "D", T),
    ("rounded value of a name", "r \\approx 4.7", "4.7", T),
    ("other rounded value", "r \\approx 4.7", "4.8", F),
    ("vulgar factor", "¾t", "\\frac{3t}{4}", T),
    ("bar of plain TeX", "{4 \\over 7}", "4/7", T),
    ("entities", "7&nbsp;cm", "7 cm", T),
    ("emphasis", "*47*", "47", T),
    ("heading", "#### 47", "47", T),
    ("empty maths", "$$", "$$", F),
    ("no solutions exist", "no solutions exist", "no solution", T),
]


@pytest.mark.parametrize(("a", "b", "truth"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_spellings_are_compared_by_what_they_say_in_both_orders(a: str, b: str, truth: Truth) -> None:
    assert equivalent(a, b) is truth
    assert equivalent(b, a) is truth
