"""Pictures that a protocol shows with its prompts. Each is read once and named by its content."""

from __future__ import annotations

from ... import images
from ...errors import ProtocolError
from ...records import blob_name
from ...system import intake
from .. import Protocol
from ..design.tables import Beside, fill
from ..source.source_lines import SourceLocation


def read_pictures(protocol: Protocol, beside: Beside, place: SourceLocation) -> None:
    """Names the design's pictures by content. Raises ProtocolError for a missing or bad file."""
    if protocol.modality == "image":
        raise ProtocolError(f"{place.at('pictures')}: a model that draws sees none. Leave it out.")
    for number, template in enumerate(protocol.pictures):
        at = place.at("pictures", number)
        for path in dict.fromkeys(fill(template, cell, str(at)) for cell in protocol.cells):
            if path and path not in beside.pictures:
                beside.pictures[path] = _name_of(beside, path, at)


def _name_of(beside: Beside, path: str, at: SourceLocation) -> str:
    folder = beside.shown or beside.folder
    if folder is None:
        raise ProtocolError(f"{at}: the run does not keep the picture {path}.")
    try:
        content = intake.read_bytes(intake.inside(folder, path), images.MOST_BYTES)
        return blob_name(content, images.suffix_of(content))
    except FileNotFoundError:
        raise ProtocolError(f"{at}: there is no picture {path}. Put one there.") from None
    except OSError as error:
        raise ProtocolError(f"{at}: {path} cannot be read: {error.strerror or error}.") from None
    except images.Unusable as problem:
        raise ProtocolError(f"{at}: {path} {problem}. Name another picture.") from None
