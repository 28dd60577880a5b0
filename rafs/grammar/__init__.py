"""The grammar of mathematics in running text: text -> tokens -> expression -> value. Nothing is evaluated as code.

text        notation (one convention of numbers for a whole trace)
tokens      lexing -> tokens; the readers of its pieces: word_readers, sign_readers, markup_readers, literals (with bases,
            clocks, number_words, han_numerals); spellings in signs; the state of the pass in lexer
expression  parsing (sum, product, power) -> terms, the syntax tree; primaries (one operand), brackets, commands, functions,
            calculus, counted (units and remarks behind a number); words: phrases, named_values, actions, phrase_words;
            the state of the parse in cursor
value       expressions (rational numbers), computing (all other exact values: values, shapes, reals, polynomials, angles,
            logarithms, series), enclosure (bounds of real numbers, by transcendental)
units       units, measures, unit_words
"""
