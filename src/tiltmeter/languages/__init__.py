"""The package's knowledge of languages: letters, quotation marks, and a pack per language.

A pack is a folder (`pt/`) that somebody without Python can write:

    language.toml   words by the part that they play in an answer: not, because, also, articles, …
    people.toml     woman, man, non-binary person, in all cases; pronouns; who does not speak
    refusals.txt    how a model declines, a line each
    answers.csv     whole answers: `frame` rows are read by, `check` rows only try the reading

docs/reference/languages.md says how to add one. Nothing here imports another room but errors and
records.
"""
