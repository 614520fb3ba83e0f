"""Builds MRC's golden packets, mrc_packets.txt, independently of the Go code.

Headers are written as lists of (width in bits, value) from the tables that ../mrcformat.go names, frames by
scapy. The ICRC over IPv4 is scapy's (scapy.contrib.roce); scapy has none over IPv6, so that one is computed
here from IBTA A17: both are compared where scapy has one. Prints one packet a line: name and hex.
"""
import zlib
from scapy.all import Ether, IP, IPv6, UDP, Raw, raw
from scapy.contrib.roce import BTH

MACS = dict(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")


def bits(*fields):
    n = sum(w for w, _ in fields)
    assert n % 8 == 0, n
    x = 0
    for w, v in fields:
        assert 0 <= v < 1 << w, (w, v)
        x = x << w | v
    return x.to_bytes(n // 8, "big")


def bth(opcode, qp, psn, pad=0, a=0, rtx=0, ts=0):
    return bits((8, opcode), (1, 0), (1, 0), (2, pad), (4, 0), (16, 0xFFFF), (8, 0), (24, qp),
                (1, a), (1, 0), (1, rtx), (1, ts), (4, 0), (24, psn))


def tseth(stamp, tsr=0):
    return bits((16, stamp), (1, tsr), (11, 0), (4, 1))


def meth(rqmsn, msn):
    return bits((16, rqmsn), (16, msn))


def reth(va, rkey, length):
    return bits((64, va), (32, rkey), (32, length))


def seth(m, pr, ackoff, ev, spdc, dpdc, cack, mpr, off, bitmap, stamp, ooo, restore, pen, rcvd):
    return bits((4, 0), (5, 0), (2, m), (3, 0), (1, pr), (1, 0), (16, ackoff & 0xFFFF), (32, ev),
                (16, spdc), (16, dpdc), (8, 0), (24, cack), (4, 0), (4, 0), (8, mpr), (16, off & 0xFFFF),
                (64, bitmap), (16, stamp), (1, 0), (15, ooo), (1, restore), (7, pen), (24, rcvd))


def neth(reason, ev, spdc, dpdc, psn, stamp):
    return bits((4, 0), (5, 0), (7, 0), (8, reason), (8, 0x77), (32, ev), (16, spdc), (16, dpdc),
                (8, 0), (24, psn), (4, 2), (4, 0), (8, 0), (16, stamp))


def peth(ident, spdc, dpdc, stamp):
    return bits((4, 0), (5, 0), (7, 0), (8, 0), (8, 0x5A), (16, ident), (16, 0), (16, spdc), (16, dpdc)) + tseth(stamp)


def erth(op, mask, stamp):
    return bits((4, 0), (5, 0), (5, 0), (2, op), (8, 0), (8, 0x42), (32, mask), (32, 0)) + tseth(stamp)


def eeth(op, stamp):
    return bits((4, 0), (5, 0), (3, 0), (2, op), (2, 0), (16, 0)) + bytes(24) + bits((16, stamp), (16, 0), (32, 0))


def icrc(ip, udp, ib):
    """IBTA 7.8.1 and A17.3.3: what routers may change counts as ones."""
    ip, udp, ib = bytearray(ip), bytearray(udp), bytearray(ib)
    if ip[0] >> 4 == 6:
        ip[0] |= 0x0F
        ip[1] = ip[2] = ip[3] = ip[7] = 0xFF
    else:
        ip[1] = ip[8] = ip[10] = ip[11] = 0xFF
    udp[6] = udp[7] = ib[4] = 0xFF
    return zlib.crc32(b"\xff" * 8 + bytes(ip + udp + ib)).to_bytes(4, "little")


def packet(name, ev, dscp, ib, payload=b"", v4=False, back=False, path=None, ecn=2):
    pad = -len(payload) % 4
    ib += payload + bytes(pad)
    here, there = ("10.0.0.1", "10.0.0.2") if v4 else ("2001:db8::1", "2001:db8::2")
    macs = MACS
    if back:
        here, there, macs = there, here, dict(src=MACS["dst"], dst=MACS["src"])
    tos = dscp << 2 | ecn
    if v4:
        ip = IP(src=here, dst=there, tos=tos, ttl=64, id=7, flags="DF")
    else:
        ip = IPv6(src=here, dst=there, tc=tos, hlim=64, fl=ev >> 16)
    udp = UDP(sport=ev & 0xFFFF, dport=4791, chksum=0)
    n = 20 if v4 else 40
    b = bytearray(raw(ip / udp / Raw(ib + bytes(4))))
    b[n + 6:n + 8] = b"\0\0"  # RoCEv2 sends none, scapy insists over IPv6
    sum = icrc(b[:n], b[n:n + 8], ib)
    if v4:
        p = IP(bytes(b))
        assert BTH in p and p[BTH].compute_icrc(raw(p[BTH])[:-4]) == sum, name
    b[-4:] = sum
    if path:
        b = raw(IPv6(src="2001:db8:a::1", dst=path, tc=tos, fl=ev >> 16, hlim=64, nh=41, plen=len(b))) + bytes(b)
    print(name, raw(Ether(type=0x800 if v4 else 0x86DD, **macs)).hex() + bytes(b).hex())


A, B = 0x000011, 0x00002A  # queue pairs: the requestor's, the responder's
DATA, CONTROL = 10, 46  # DSCPs
EV = 0x00150C07
packet("write_first", EV, DATA, bth(0xC6, B, 5000, ts=1) + meth(0, 3) + tseth(0x1234)
       + reth(0x7F0000001000, 0x5678, 512 + 17), bytes(range(256)))
packet("write_middle", EV + 1, DATA, bth(0xC7, B, 5001) + meth(0, 3)
       + reth(0x7F0000001100, 0x5678, 512 + 17), bytes(range(256)))
packet("write_last_again", EV + 2, DATA, bth(0xC8, B, 5002, pad=3, a=1, rtx=1, ts=1) + meth(0, 3)
       + tseth(0x1240) + reth(0x7F0000001200, 0x5678, 512 + 17), b"seventeen bytes..")
packet("write_last_imm", EV, DATA, bth(0xC9, B, 5003, a=1, ts=1) + meth(9, 4) + tseth(0xFFFF, tsr=1)
       + reth(0x7F0000002000, 0x5678, 4) + bits((32, 0xDEADBEEF)), b"four")
packet("write_only_v4", 0xC0DE, DATA, bth(0xCA, B, 0xFFFFFF, pad=2, a=1) + meth(0, 0xFFFF)
       + reth(0x1000, 0x1, 2), b"xy", v4=True)
packet("write_only_imm_srv6", EV, DATA, bth(0xCB, B, 5004, a=1) + meth(10, 5)
       + reth(0x7F0000003000, 0x5678, 8) + bits((32, 7)), b"8 bytes.", path="fcbb:bb00:11:2002:33::")
packet("ack", 0xC000, CONTROL, bth(0xD1, A, 5004) + bits((8, 0x1F), (24, 6)), v4=True, back=True)
packet("sack", 0x00160C01, CONTROL, bth(0xDC, A, 5000)
       + seth(1, 0, 3, EV, B, A, 5000, 2, 2, 0x8000000000000005, 0x1234, 0x4567, 1, 64, 0xABCDEF), back=True)
packet("sack_before_cumulative_v4", 0xC123, CONTROL, bth(0xDC, A, 1)
       + seth(2, 0, -2, 0xC0DE, B, A, 1, 0, -1, 0xF, 0, 0, 0, 0, 1), v4=True, back=True)
packet("sack_answers_probe", 0x00160C01, CONTROL, bth(0xDC, A, 5000)
       + seth(0, 1, 0x8001, EV, B, A, 5000, 0, 1, 0, 0x2222, 0, 0, 127, 3), back=True)
for name, reason in dict(trimmed=1, trimmed_lasthop=2, no_bitmap=6, no_pkt_buffer=7, no_resource=10,
                         psn_oor_window=11, unexp_event=25).items():
    packet("nack_" + name, 0x00160C01, CONTROL,
           bth(0xDD, A, 5001) + neth(reason, EV, B, A, 5001, 0x1235), back=True)
packet("probe", EV, DATA, bth(0xDE, B, 0, a=1) + peth(0x8001, A, B, 0x2222))
packet("port_status_update", EV, CONTROL, bth(0xD8, 2, 0x77) + erth(0, 0x000000FD, 0x3333))
packet("ev_probe", EV, DATA, bth(0xD8, 2, 0x78) + erth(1, 0, 0x3334))
packet("ev_probe_answer", 0x00160C01, CONTROL, bth(0xD9, 2, 0x78) + eeth(1, 0x3334), back=True)
