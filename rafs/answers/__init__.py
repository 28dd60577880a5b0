"""Final answers: where a text states them, and whether two of them are the same.

Text -> answer (`extraction`): `statements` lists every place that states one. `marked_statements` finds those that
`markers` knows; where there is none, `statements` takes what the closing sentence comes to. `stated_values` reads the
value that stands there, `value_shapes` one whose shape gives its end away; the last statement wins.

Answer -> form (`answer_forms`): `answer_text` brings it to one spelling, `contexts` reads what the problem decides, and
the kinds of `forms` are tried in turn: `fixed_forms` (option, time, date), `measured` (a number and its unit), regions
(`regions`), lists, and equations, whose left side may be a mere name (`labels`). `answer_maths` reads the formulas.

Two forms -> true, false, unknown (`equivalence`): `comparison` takes each pair of kinds to `quantity_comparison`,
`relations`, `regions` or `wordings`. Whether two formulas agree is proven or refuted in `identities`: normal forms that
are equal (`rewriting`), or values that lie apart (`balls`), whatever `open_functions` leave open.
"""
