"""The tests. Commands are called in this process, so it gets what a process of the command sets up (`tiltmeter.cli.entry`)."""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
gc.set_threshold(300_000, 50, 50)
