"""How units are spelled: every word, abbreviation and sign that is read as a measure, and what measure it is.

Only the names on the left ever reach the unit library; what stands on the right is all the text that is recognised.
"""

_MEASURES = {
    "meter": "m meter metre", "millimeter": "mm millimeter millimetre", "centimeter": "cm centimeter centimetre",
    "decimeter": "dm decimeter decimetre", "kilometer": "km kilometer kilometre",
    "micrometer": "µm μm micrometer micron",
    "nanometer": "nm nanometer nanometre", "inch": "in inch inche ″", "foot": "ft foot feet ′", "yard": "yd yard",
    "mile": "mi mile", "nautical_mile": "nmi", "light_year": "lightyear light-year",
    "gram": "g gm gram gramme", "milligram": "mg milligram", "kilogram": "kg kilogram kilo", "metric_ton": "tonne",
    "pound": "lb lbs", "stone": "stone",
    "microsecond": "µs μs microsecond", "millisecond": "ms millisecond", "second": "s sec second",
    "minute": "min minute", "hour": "h hr hour", "day": "day", "week": "wk week", "fortnight": "fortnight",
    "milliliter": "ml mL cc milliliter millilitre", "centiliter": "cl cL centiliter centilitre",
    "deciliter": "dl dL deciliter decilitre", "liter": "l L ℓ liter litre",
    "tablespoon": "tbsp tablespoon", "teaspoon": "tsp teaspoon", "hectare": "ha hectare", "knot": "knot kn",
    "joule": "J joule", "kilojoule": "kJ kilojoule", "calorie": "cal calorie", "kilocalorie": "kcal kilocalorie",
    "watt_hour": "Wh", "kilowatt_hour": "kWh kilowatt-hour", "watt": "W watt", "kilowatt": "kW kilowatt",
    "megawatt": "MW megawatt", "newton": "N newton", "kilonewton": "kN kilonewton", "pascal": "Pa pascal",
    "kilopascal": "kPa kilopascal", "atmosphere": "atm atmosphere", "bar": "bar", "hertz": "Hz hertz",
    "kilohertz": "kHz kilohertz", "megahertz": "MHz megahertz", "volt": "V volt", "ampere": "A amp ampere",
    "milliampere": "mA", "ohm": "Ω ohm", "coulomb": "C coulomb", "mole": "mol mole", "byte": "byte", "bit": "bit",
}  # fmt: skip
"""Measures of the unit library."""
_AMBIGUOUS = {
    "pound": ("pound", "GBP"), "ton": ("ton", "metric_ton", "long_ton"), "gallon": ("gallon", "imperial_gallon"),
    "gal": ("gallon", "imperial_gallon"), "pint": ("pint", "imperial_pint"), "pt": ("pint", "imperial_pint"),
    "cup": ("cup", "imperial_cup"), "quart": ("quart", "imperial_quart"), "qt": ("quart", "imperial_quart"),
    "ounce": ("ounce", "fluid_ounce", "imperial_fluid_ounce"), "oz": ("ounce", "fluid_ounce", "imperial_fluid_ounce"),
    "floz": ("fluid_ounce", "imperial_fluid_ounce"), "$": ("USD", "CAD", "AUD"),
    "dollar": ("USD", "CAD", "AUD"), "buck": ("USD", "CAD", "AUD"), "pence": ("0.01 GBP",),
    "cent": ("0.01 USD", "0.01 EUR", "0.01 CAD", "0.01 AUD"), "¢": ("0.01 USD", "0.01 EUR", "0.01 CAD", "0.01 AUD"),
    "¥": ("JPY", "CNY"),
}  # fmt: skip
"""Words with several meanings; two of them are compared in the meanings that they share."""
_OURS = {
    "acre": "acre", "month": "month mo", "year": "year yr", "decade": "decade", "century": "century centurie",
    "degree": "° deg degree", "radian": "rad radian", "revolution": "revolution", "celsius": "°c celsius centigrade ℃",
    "fahrenheit": "°f fahrenheit ℉", "kelvin": "K kelvin", "USD": "usd us$", "EUR": "€ euro eur", "GBP": "£ gbp quid",
    "INR": "₹ rupee inr rs", "JPY": "yen jpy", "CNY": "yuan rmb cny", "CAD": "cad c$ ca$", "AUD": "aud a$",
    "CHF": "chf franc", "KRW": "₩ won krw", "RUB": "₽ ruble rouble rub", "MXN": "peso mxn", "SEK": "sek krona kronor",
    "0.01 USD": "penny pennie", "0.05 USD": "nickel", "0.1 USD": "dime", "0.25 USD": "quarter",
}  # fmt: skip
"""Measures that the unit library does not have, or defines in a way that schoolbooks do not (the acre)."""

SPELLINGS: dict[str, tuple[str, ...]] = {
    **{word: (name,) for table in (_MEASURES, _OURS) for name, words in table.items() for word in words.split()},
    **_AMBIGUOUS,
}
"""The measures that a word may mean, by its singular; words of several letters in lower case but for symbols."""
MEASURE_SIGNS = frozenset("km m cm mm kg g mg l ml min h s € $ £ kWh".split())
"""Short signs of measures, which behind a number are nothing else."""
PHRASES = {
    "mph": "mile per hour", "kph": "km per hour", "kmh": "km per hour", "kmph": "km per hour", "mpg": "mile per gal",
    "rpm": "revolution per minute", "fps": "foot per second", "us dollars": "usd", "us dollar": "usd",
    "u.s. dollars": "usd", "american dollars": "usd", "canadian dollars": "cad", "australian dollars": "aud",
    "pounds sterling": "gbp", "fluid ounces": "floz", "fluid ounce": "floz", "fl oz": "floz", "fl. oz": "floz",
    "metric tons": "tonne", "metric ton": "tonne", "light years": "lightyear", "nautical miles": "nmi",
    "degrees celsius": "celsius", "degree celsius": "celsius", "degrees fahrenheit": "fahrenheit",
    "degrees c": "celsius", "degrees f": "fahrenheit", "° c": "celsius", "° f": "fahrenheit", "deg c": "celsius",
    "square feet": "square foot", "sqft": "square foot", "kilowatt hours": "kWh", "kilowatt-hours": "kWh",
}  # fmt: skip
"""Units of several words, and abbreviations of compound ones."""
MONEY = ("USD", "EUR", "GBP", "INR", "JPY", "CNY", "CAD", "AUD", "CHF", "KRW", "RUB", "MXN", "SEK")
"""Every currency is a dimension of its own: no rate is known."""
CALENDAR_MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1200}
"""Units of the calendar, in months; how many days they have is a matter of convention."""
US_MEASURES = frozenset(["gallon", "pint", "cup", "quart", "fluid_ounce"])
"""Measures with an imperial twin of another size; one answer never mixes the two systems."""
