"""`crier:TEXT` says one text. A million of its tokens cost a dollar in and two out."""

from tiltmeter.models import Model, Price
from tiltmeter.models.kinds import DoctorFinding, ModelKind
from tiltmeter.models.options import TEXT, ModelOptions
from tiltmeter.records import Reply, Request


class Crier(Model):
    def __init__(self, text: str, options: ModelOptions) -> None:
        self.name, self.price, self._text = f"crier:{text}", options.price, text

    async def ask(self, request: Request) -> Reply:
        return Reply(self._text, usage=(10, 5))


READY = DoctorFinding("outside", "crier", True, "has a voice")
SAYS = "crier:TEXT, says one text"
KIND = ModelKind("crier", SAYS, Crier, (TEXT,), price=Price(1, 2), check=lambda: [READY])
