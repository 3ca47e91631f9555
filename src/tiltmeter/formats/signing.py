"""The signature of a manifest with a user's key: it shows who vouches for a folder, which hashes
alone do not.

Made and checked by `ssh-keygen -Y` (OpenSSH 8.1 and later), with people's usual SSH keys; the
signature lies beside the manifest and is not listed in it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..errors import UsageError
from ..system import intake
from ..system.writing import write_whole
from .crate import SIGNATURE, read_manifest

NAMESPACE = "tiltmeter"  # so that a signature of something else is none of a manifest
LONGEST_S = 60.0
_MOST_BYTES = 64 * 1024
_KEY = re.compile(r"with (\S+) key (SHA256:\S+)")


class Signer(NamedTuple):
    """A folder's signer. key: kind and fingerprint; name: from the list of signers, or ""."""

    key: str
    name: str = ""


def sign(folder: Path, key: Path) -> Signer:
    """Signs the manifest of a folder; replaces an earlier signature. key: an SSH key, or the public
    part of a key in the SSH agent. Raises UsageError if signing fails.
    """
    manifest = _manifest(folder)
    result = _run(["sign", "-f", str(key.resolve()), "-n", NAMESPACE], manifest, waits=True)
    if result.returncode or not result.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise UsageError(f"{folder} was not signed with {key}: {_tool_message(result)}")
    write_whole(folder / SIGNATURE, result.stdout.decode())
    return _checked(manifest, result.stdout, None)


def signer_of(folder: Path, signers: Path | None) -> Signer | None:
    """Finds the signer of a folder's manifest; None if it is not signed. signers: a list of `NAME
    KEY` lines (ssh-keygen's allowed signers) that must hold the signer. Raises UsageError if the
    signature does not match the manifest, or its signer is not in the list.
    """
    path = folder / SIGNATURE
    if path.is_symlink():
        raise UsageError(f"{path} is a link, not a signature. Sign the folder again.")
    try:
        signature = intake.read_bytes(path, _MOST_BYTES)
    except FileNotFoundError:
        if signers is None:
            return None
        raise UsageError(
            f"{folder} is not signed. To sign: tiltmeter export FOLDER --sign KEY"
        ) from None
    return _checked(_manifest(folder), signature, signers)


def _manifest(folder: Path) -> bytes:
    try:
        return read_manifest(folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"{folder} has no manifest to sign or to check: {why}.") from None


def _checked(manifest: bytes, signature: bytes, signers: Path | None) -> Signer:
    with TemporaryDirectory() as folder:
        path = Path(folder) / SIGNATURE
        path.write_bytes(signature)
        asked = ["check-novalidate", "-n", NAMESPACE, "-s", str(path)]
        result = _run(asked, manifest)
        match = _KEY.search(result.stdout.decode("utf-8", "replace"))
        if result.returncode or match is None:
            raise UsageError(f"the signature does not match the manifest: {_tool_message(result)}")
        key = f"{match[1]} {match[2]}"
        if signers is None:
            return Signer(key)
        listed = ["-s", str(path), "-f", str(signers.resolve())]
        names = _run(["find-principals", *listed], manifest).stdout.decode("utf-8", "replace")
        for name in names.splitlines():
            verified = _run(["verify", "-n", NAMESPACE, "-I", name, *listed], manifest)
            if verified.returncode == 0:
                return Signer(key, name)
    raise UsageError(f"the folder is signed with a key that is not in {signers}: {key}")


def _run(
    asked: list[str], manifest: bytes, *, waits: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Runs `ssh-keygen -Y`. waits: True for no time limit, as it may ask for a password."""
    limit = None if waits else LONGEST_S
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", *asked], input=manifest, capture_output=True, timeout=limit
        )
    except FileNotFoundError:
        raise UsageError("Signatures need ssh-keygen, which is part of OpenSSH.") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"ssh-keygen did not end in {LONGEST_S:.0f} s. Try again.") from None


def _tool_message(done: subprocess.CompletedProcess[bytes]) -> str:
    message = (done.stderr or done.stdout).decode("utf-8", "replace")
    return " ".join(message.split())[:200] or "ssh-keygen does not say why"
