"""The grammar of mathematics in running text: text -> tokens -> expression -> value. Nothing is evaluated as code.

text        notation: the one convention of numbers that a trace shares
tokens      lexing, with a reader for each piece: word_readers, sign_readers, markup_readers, literals (bases, clocks,
            number_words, han_numerals); spellings in signs, the state of the pass in lexer
expression  parsing (sums, products, powers) -> terms, the syntax tree; an operand by primaries, brackets, commands,
            functions, calculus, and counted (units and remarks behind it); words by phrases, named_values, actions,
            phrase_words; the state of the parse in cursor
value       expressions (rational numbers); computing (all other exact values: values, shapes, reals, polynomials,
            angles, logarithms, series); enclosure (bounds of real numbers, with transcendental)
units       units, measures, unit_words
"""
