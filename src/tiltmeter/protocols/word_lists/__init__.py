"""Lists of nouns whose grammatical gender opposes what people picture, made as GRAMVIS made its
own: candidates proposed by models, rated by people or judges who do not see the gender, kept where
enough of them agree (README.md).
"""
