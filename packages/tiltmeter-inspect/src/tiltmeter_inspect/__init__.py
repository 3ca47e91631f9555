"""The text protocols of tiltmeter as tasks of Inspect: its models, our prompts, instruments and
statistics.
"""

from .scoring import claims, labels
from .tasks import NAMES, protocol_task

__all__ = ["NAMES", "claims", "labels", "protocol_task"]
