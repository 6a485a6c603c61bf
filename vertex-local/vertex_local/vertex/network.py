"""Rules for the network of a job or of a persistent resource (vertex-rules 1.2, 1.7)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .field_errors import Mistake

_NETWORK = re.compile(r"projects/[0-9]+/global/networks/[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_ATTACHMENT = re.compile(r"projects/[^/]+/regions/([^/]+)/networkAttachments/[^/]+|[a-z]([-a-z0-9]*[a-z0-9])?")


def network_mistakes(root: str, body: Mapping[str, Any], region: str) -> Iterator[Mistake]:
    """Yield the errors in the network, its address ranges and the PSC interface of a canonical message at a path.

    The service takes a network and a PSC interface together: Google's acceptance test of its Terraform resource for
    persistent resources makes one with both (magic-modules 18273).
    """
    network = body.get("network", "")
    if network and not _NETWORK.fullmatch(network):
        text = f'Network "{network}" must be of the form projects/{{number}}/global/networks/{{network}}, where the '
        yield Mistake(f"{root}.network", f"{text}project is named by its number.")
    if body.get("reservedIpRanges") and not network:
        yield Mistake(f"{root}.reserved_ip_ranges", "Reserved IP ranges need a network.")
    psc = body.get("pscInterfaceConfig")
    if psc is None:
        return
    path = f"{root}.psc_interface_config"
    match = _ATTACHMENT.fullmatch(psc.get("networkAttachment", ""))
    if match is None:
        yield Mistake(f"{path}.network_attachment", "The name or full path of a network attachment is required.")
    elif match[1] not in (None, region):
        text = f"The network attachment is in {match[1]}; it must be in the region of the resource, {region}."
        yield Mistake(f"{path}.network_attachment", text)
    for at, peering in enumerate(psc.get("dnsPeeringConfigs", [])):
        where = f"{path}.dns_peering_configs[{at}]"
        if not peering.get("domain", "").endswith("."):
            yield Mistake(f"{where}.domain", 'The domain must end with ".".')
        for key, field in (("targetProject", "target_project"), ("targetNetwork", "target_network")):
            if not peering.get(key):
                yield Mistake(f"{where}.{field}", "This field is required.")
