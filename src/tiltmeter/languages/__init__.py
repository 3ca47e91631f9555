"""The package's knowledge of languages: letters, quotation marks, and a pack per language.

A pack is a folder (`pt/`) that can be written without knowing Python:

    language.toml   words by their role in an answer: not, because, also, articles, …
    people.toml     woman, man, non-binary person, in all cases; pronouns; labels of no speaker
    refusals.txt    sentences with which a model declines, one per line
    answers.csv     whole answers: `frame` rows are used for parsing, `check` rows only for tests

docs/reference/languages.md explains how to add one. Of the package's other modules, only errors and
records are imported here.
"""
