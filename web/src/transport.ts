import type { Info } from "./api";

/** Transport is what carries a run's messages, in words for people who have not met it. */
export interface Transport {
  key: string; // as scenarios say it
  name: string;
  means: string;
}

const known: Record<string, [name: string, means: string]> = {
  roce: [
    "RoCEv2",
    "A queue pair's packets take one path and arrive in order; from a gap on, everything is retransmitted.",
  ],
  "roce-selective": [
    "RoCEv2, selective repeat",
    "Packets may overtake one another, and only what is lost is retransmitted.",
  ],
  srd: [
    "SRD",
    "Datagrams take whichever of many paths answers fastest and arrive in any order; the receiver " +
      "puts messages together.",
  ],
  falcon: [
    "Falcon",
    "A few paths per connection, each with a window that its round trip sets; losses are found within " +
      "a round trip, and a congested path is left.",
  ],
  mrc: [
    "MRC",
    "Every packet of a WRITE takes another path, by its entropy value, and is placed where it belongs " +
      "as it comes; receivers say what is missing, and bad paths are left out.",
  ],
  eqds: [
    "EQDS over RoCEv2",
    "Receivers grant credit for what their link takes; packets are sprayed, and a full switch cuts " +
      "them to their headers instead of losing them.",
  ],
  uec: [
    "UEC over RoCEv2",
    "Ultra Ethernet's control of congestion over RoCEv2's packets: a window follows marks and round trips, receivers grant credit besides, packets are spread over " +
      "paths that prove good, and full switches cut them to their headers.",
  ],
  scheduled: [
    "RoCEv2 over a scheduled fabric",
    "Packets wait where they enter until the port they leave by grants credit, then cross as cells " +
      "over all links at once.",
  ],
};

/** transportOf names a run's transport by what the run resolved. */
export function transportOf(info: Info): Transport {
  const r = info.manifest.resolved;
  const s = info.summary;
  const kind = r["transport.kind"] ?? "roce";
  const control = (s.cc ?? []).map((c) => c.algorithm);
  let key = kind;
  if (kind === "roce") {
    if (s.scheduled) key = "scheduled";
    else if (control.includes("eqds")) key = "eqds";
    else if (control.includes("uec")) key = "uec";
    else if (r["transport.recovery"] === "selective") key = "roce-selective";
  }
  const [name, means] = known[key] ?? [key, s.transport ? `${s.transport}.` : ""];
  const paused =
    r["switch.pfc"] === "true"
      ? "Switches pause their neighbours (PFC) before they would lose a packet."
      : r["switch.pfc"] === "false"
        ? "Switches never pause anybody."
        : "";
  const segments =
    r["transport.forwarding"] === "srv6" ? "Each packet carries its way as segments (SRv6)." : "";
  return { key, name, means: [means, segments, paused].filter(Boolean).join(" ") };
}

/** headers are the layers of a data packet, with their bytes. */
export function headers(t: Transport, info: Info): [string, string][] {
  const r = info.manifest.resolved;
  const mtu = r["transport.mtu"] ?? "4096";
  const outer: [string, string][] = r["transport.forwarding"] === "srv6" ? [["IPv6", "40, the way"]] : [];
  if (t.key === "srd" || t.key === "falcon")
    return [
      ["Ethernet", "14 bytes"],
      ...outer,
      ["IP, UDP", "addresses"],
      [t.name, "not public"],
      ["payload", `up to ${mtu}`],
      ["FCS", "4"],
    ];
  const rdma: [string, string][] =
    t.key === "mrc"
      ? [
          ["METH", "4, message"],
          ["RETH", "16, in each"],
        ]
      : [["RETH", r["transport.write"] === "only" ? "16, in each" : "16, first only"]];
  return [
    ["Ethernet", "14 bytes"],
    ...outer,
    r["fabric.ip"] === "6" ? ["IPv6", "40"] : ["IPv4", "20"],
    ["UDP", "8, port 4791"],
    ["BTH", "12"],
    ...rdma,
    ["payload", `up to ${mtu}`],
    ["ICRC, FCS", "4 + 4"],
  ];
}

/** meanings are the fields of a header, and what they are for. */
const meanings: Record<string, [fields: string, means: string]> = {
  Ethernet: ["MAC addresses, EtherType", "who is next on this link; rewritten at each hop"],
  IPv4: ["addresses, DSCP, ECN", "DSCP chooses the queue; a switch sets ECN from ECT to CE"],
  IPv6: ["addresses, traffic class, flow label", "the traffic class chooses the queue and carries ECN"],
  UDP: ["source port, destination port 4791", "switches hash the source port to choose a path"],
  BTH: ["opcode, destination QPN, PSN, AckReq", "whose queue pair it is, and its number in order"],
  METH: ["message number", "which message the packet belongs to, whatever its order"],
  RETH: ["virtual address, rkey, length", "where the WRITE goes in the memory of the receiver"],
  payload: ["bytes of the message", "read from and written to GPU memory by the NICs"],
  "ICRC, FCS": ["two checksums", "ICRC from NIC to NIC, FCS link by link"],
};

/** stack is the headers of a data packet with the meaning of their fields; empty where a format is not public. */
export function stack(t: Transport, info: Info): { name: string; bytes: string; fields: string; means: string }[] {
  if (t.key === "srd" || t.key === "falcon" || info.manifest.resolved["transport.kind"] === "tcp") return [];
  return headers(t, info).map(([name, size]) => {
    const [fields, means] = size.includes("the way") ? ["segments", "the switches that the packet passes"] : (meanings[name] ?? ["", ""]);
    return { name, bytes: size.replace(/ bytes|, port 4791|, message|, the way/g, ""), fields, means };
  });
}

/** ways says how paths are chosen, for the policies that scenarios know; others go by their name. */
const ways: Record<string, string> = {
  ecmp: "a hash of a packet's addresses and ports picks among equal paths",
  flowlet: "as by hash, but a flow may change its path after a pause",
  spray: "switches send packets over equal paths in turn",
  "spray-random": "switches send each packet over an equal path at random",
  "spray-least": "switches send each packet over the equal path with the shortest queue",
  minimal: "between groups of switches over one global link at most",
  valiant: "by way of another group of switches, at random",
  ugal: "straight or by way of another group, whichever has shorter queues here",
  structured: "the entropy value names the port that each tier takes",
  cells: "cells go over all links in turn",
};

export const pathsBy = (lb: string): string => (ways[lb] ? `${lb}: ${ways[lb]}` : lb);
