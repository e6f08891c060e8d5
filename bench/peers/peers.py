"""Every peer, in the order of the table's columns.

Takes: the files beside this one.  Gives: `PEERS`, `installed()`.  Never: forgets one that is absent.
"""

from __future__ import annotations

from bench.peers.bubblewrap import BUBBLEWRAP
from bench.peers.firejail import FIREJAIL
from bench.peers.nsjail import NSJAIL
from bench.peers.oci import GVISOR, RUNC
from bench.peers.peer import Absent, Found, Peer, look_for
from bench.peers.sandlock_peer import SANDLOCK
from bench.peers.srt import SRT

PEERS: tuple[Peer, ...] = (BUBBLEWRAP, NSJAIL, FIREJAIL, RUNC, GVISOR, SANDLOCK, SRT)


def looked_for() -> tuple[list[Found], list[Absent]]:
    """The peers that run here, and those that do not with the reason."""
    looked = [look_for(peer) for peer in PEERS]
    return [each for each in looked if isinstance(each, Found)], [each for each in looked if isinstance(each, Absent)]
