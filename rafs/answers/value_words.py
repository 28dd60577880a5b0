"""Words that tell a value stated in words from the rest of a sentence."""

NOT_AN_ANSWER = frozenset(
    "correct wrong incorrect reasonable right not that the following obvious clear a an found given obtained below "
    "above as based this just what how in to unclear unknown likely probably supposed different it we you she he "
    "i only also going close independent equivalent don't dont".split()
)
"""No value begins with them: `the answer is likely larger`."""
ARTICLES = frozenset("the a an".split())
NOT_A_THING = frozenset(
    "same sum product difference number total result one first last value least greatest most smallest "
    "largest maximum minimum answer final correct right best area volume length time bit "
    "little lot multiple positive negative question problem given".split()
)
"""What an article makes no value of: `the answer is the sum`."""
SENTENCE_WORDS = frozenset(
    "the a an of to in on at by for from with without is are was were be been has have had do does did can could will "
    "would should may might must not no so if as than then that this it we you he she they there which who what "
    "because when but or per about between".split()
)
"""Words that no list of words is made of: `mulberry nickel ochre` may be an answer of any length, at the end."""
