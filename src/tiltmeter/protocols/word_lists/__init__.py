"""Lists of nouns whose grammatical gender opposes the stereotype, made as GRAMVIS made its list:
models propose candidates, people or judges who do not see the gender rate them, and words stay on
which enough raters agree (README.md).
"""
