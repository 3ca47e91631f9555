# Thin faces over scripts/, which need only bash and Python.
.PHONY: demo test

demo:
	@bash scripts/demo

test:
	@bash scripts/test

