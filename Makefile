# Thin faces over scripts/, which need only bash and Python.
.PHONY: demo docs test

docs:
	@bash scripts/docs

demo:
	@bash scripts/demo

test:
	@bash scripts/test

