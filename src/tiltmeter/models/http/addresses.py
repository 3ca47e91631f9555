"""Checks the addresses that may be connected to, and finds the proxy to use."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...errors import UsageError

if TYPE_CHECKING:
    from aiohttp import AddrInfoType

NOT_PUBLIC = "is no public address"
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last 32 bits


def public_socket(address: AddrInfoType) -> socket.socket:
    """Makes a socket to connect to an address. Raises OSError if the address is not public."""
    family, kind, protocol, _, place = address
    if not public(str(place[0])):
        raise OSError(errno.EACCES, f"{place[0]} {NOT_PUBLIC}")
    return socket.socket(family, kind, protocol)


def public(address: str) -> bool:
    """True if an address is on the internet: not loopback, private, link-local or reserved."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = (
            ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
            if parsed in _NAT64
            else parsed.ipv4_mapped or parsed.sixtofour
        )
        if inner is not None:
            return public(str(inner))
    return parsed.is_global and not parsed.is_multicast


def proxy_of(url: str) -> str:
    """Returns the proxy for a URL by HTTPS_PROXY or the system's settings; "" if there is none or
    NO_PROXY lists the host. Raises UsageError if the proxy does not speak HTTP.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme, "")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise UsageError(
            f"{parts.scheme.upper()}_PROXY names a {urlsplit(proxy).scheme}: proxy, but only http: "
            "and https: proxies can be used. Name such a proxy, or unset the variable."
        )
    return proxy
