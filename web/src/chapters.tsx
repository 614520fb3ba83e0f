import type { ComponentChildren, JSX } from "preact";
import { type Answer, type Info, type PortRow, view } from "./api";
import { acted, controls, cuts } from "./control";
import { byFlow, NotSimulated, unsimulated } from "./flow";
import * as f from "./format";
import { useRecorded } from "./scenes";
import { headers, stack, transportOf } from "./transport";
import { Bars, Chain, Copies, Fields, Fig, Laid, Mesh, Ring } from "./pictures";
import { useData } from "./state";
import { StepBar } from "./stepbar";

export interface Chapter {
  title: string;
  finding?: ComponentChildren; // of this run, behind the title
  picture: JSX.Element;
  lines: JSX.Element[];
}

/** StepOf is the step as the answer draws it, or rows while that is not there. */
function StepOf({ info, rows }: { info: Info; rows: Parameters<typeof Bars>[0]["rows"] }) {
  const { data } = useData(() => view<Answer>(info.name, "answer"), [info.name]);
  const parts = data?.parts ?? [];
  const sum = parts.reduce((n, p) => n + p.time_ps, 0);
  return sum > 0 ? <StepBar parts={parts} causes={data!.causes_present} step={sum} main={data!.losses?.[0]?.key} /> : <Bars rows={rows} />;
}

type Collective = NonNullable<Info["summary"]["collectives"]>[number];

/** rounds says how a collective goes, by its algorithm and kind, as far as that is known. */
function rounds(c: Collective): string {
  const ring: Record<string, string> = {
    "all-reduce": "Each sends to its neighbour only; 2(n−1) rounds make a sum everywhere.",
    "all-gather": "Each sends to its neighbour only; after n−1 rounds everybody has everything.",
    "reduce-scatter": "Each sends to its neighbour only; after n−1 rounds each has its share of the sum.",
    "send-recv": "Each sends to its neighbour only.",
  };
  const other: Record<string, string> = {
    direct: "Each sends to every other rank, all at once.",
    pairwise: "Each sends to every other rank, one after another.",
    pxn: "Each sends to every other rank; NVLink carries it to the GPU on the receiver's rail first.",
    tree: "Sums go up a tree and come down again, piece by piece.",
    "halving-doubling": "Partners at doubling distance exchange halves: 2 log₂ n rounds.",
    hierarchical: "First inside each server, then between servers, then inside again.",
    chain: "Each passes it on to the next.",
  };
  return (
    (c.algorithm === "ring" ? ring[c.kind] : other[c.algorithm ?? ""]) ??
    "Every rank sends what its peers wait for."
  );
}

/** way is the roles of the switches on a shortest path between two GPUs' NICs; empty where
 * there is none, as between rails that NVLink joins. */
function way(info: Info, from: string, to: string): string[] {
  const { nodes, links, nics, gpus_per_host } = info.topology;
  const leaves = (gpu: string): number[] => {
    // switches that the GPU's own NIC is cabled to
    const host = nodes.findIndex((n) => n.name === gpu.split("/")[0]);
    const own = nics.filter((n) => n.host === host);
    const nic = own[Math.floor(((Number(/\d+$/.exec(gpu)?.[0] ?? 1) - 1) * own.length) / gpus_per_host)];
    return (nic?.links ?? []).map((l) => (links[l].a === host ? links[l].b : links[l].a));
  };
  const near = nodes.map(() => [] as number[]);
  for (const l of links)
    if (nodes[l.a].role !== "host" && nodes[l.b].role !== "host") {
      near[l.a].push(l.b);
      near[l.b].push(l.a);
    }
  const first = leaves(from);
  const before = new Map<number, number>(first.map((s) => [s, -1]));
  const ends = new Set(leaves(to));
  for (const queue = [...first]; queue.length > 0;) {
    const at = queue.shift() as number;
    if (ends.has(at)) {
      const out: string[] = [];
      for (let s = at; s >= 0; s = before.get(s) as number) out.unshift(nodes[s].role);
      return out;
    }
    for (const next of near[at])
      if (!before.has(next)) {
        before.set(next, at);
        queue.push(next);
      }
  }
  return [];
}

/** marking is what ECN and congestion control did. */
function marking(info: Info): JSX.Element {
  const s = info.summary;
  const slowed = controls(s).filter((c) => cuts(c) > 0);
  const ran = s.congestion_control ? (
    <>
      {" "}
      Senders ran <Fig v={s.congestion_control} from="summary.json, congestion_control" />.
    </>
  ) : null;
  const what = <Fig v={slowed.map(acted).join("; ")} from="summary.json, cc" />;
  const marks = <Fig v={f.count(s.ecn_marks)} from="summary.json, ecn_marks" />;
  const cnps = <Fig v={f.count(s.cnps)} from="summary.json, cnps" />;
  const marked = s.ecn_marks === 0 ? <>No switch marked a packet</> : <>Switches marked {marks} packets</>;
  const told = s.cnps === 0 ? <>no notification was sent</> : <>receivers sent {cnps} notifications</>;
  return (
    <>
      {marked}; {told}. {slowed.length > 0 ? <>{what}.</> : <>No sender slowed down.</>}
      {ran}
    </>
  );
}

/** pausing is what PFC did, or what was lost without it. */
function pausing(info: Info): JSX.Element {
  const s = info.summary;
  const drops = <Fig v={f.count(s.drops)} from="summary.json, drops" />;
  if (s.pfc_pauses > 0) {
    return (
      <>
        <Fig v={f.count(s.pfc_pauses)} from="summary.json, pfc_pauses" /> pauses stopped senders for{" "}
        <Fig v={f.time(s.pfc_pause_ps)} from="summary.json, pfc_pause_ps, all ports together" />
        {s.drops > 0 ? <>, and {drops} packets were dropped all the same.</> : <>: nothing was dropped.</>}
      </>
    );
  }
  if (s.drops > 0) return <>No port was paused, and {drops} packets were dropped.</>;
  return <>PFC, the last resort, was not needed: no port was paused, nothing was dropped.</>;
}

/** exposed is communication that nothing hid, storage aside. */
const exposed = (s: Info["summary"]) =>
  s.exposed_comm_ps - (s.exposed_data_loading_ps ?? 0) - (s.exposed_checkpoint_ps ?? 0) - (s.exposed_host_ps ?? 0);

/** cardRate is the rate of the fastest NIC, all ports of the card together. */
function cardRate(info: Info): number {
  const { nics, links } = info.topology;
  const cards = new Map<string, number>();
  for (const n of nics) {
    const card = n.name.replace(/(\/nic-\d+).*$/, "$1");
    cards.set(card, (cards.get(card) ?? 0) + n.links.reduce((sum, l) => sum + links[l].rate_bps, 0));
  }
  return Math.max(0, ...cards.values());
}

/** bounded names what allows a collective no more than its bound: "its busiest NIC". */
const bounded = (c: Collective) => `its busiest ${c.bound_by}`;

/** of is a bar of bytes. */
const of = (name: string, bytes: number): [string, number, string] => [name, bytes, f.bytes(bytes)];

const bar = (name: string, ps: number): [string, number, string] => [name, ps, f.time(ps)];

/** useMessage is the message that the scenes of packets are about: that of the followed packet, else the slowest. */
function useMessage(info: Info) {
  const { m, p } = useRecorded(info);
  const slow = info.summary.slowest_flow;
  return { m: m ?? (slow && { ...slow, why: slow.reason, posted_ps: 0, done_ps: slow.time_ps }), followed: !!(m && p) };
}

const Slower = ({ info }: { info: Info }) => {
  const { m, followed } = useMessage(info);
  if (!m || m.done_ps < 0 || m.ideal_ps <= 0) return null;
  return (
    <>
      :       {followed ? "the followed packet's" : "the slowest"} message takes {f.digits((m.done_ps - m.posted_ps) / Math.max(1, m.ideal_ps))} × its ideal time
    </>
  );
};

const Journey = ({ info }: { info: Info }) => {
  const { m, followed } = useMessage(info);
  if (!m) return null;
  if (m.done_ps < 0) return <>The message from {m.from} to {m.to} was not complete when the run ended.</>;
  return (
    <>
      {followed ? "The message of the packet that was followed" : "The message that lost most"} went from {m.from} to {m.to}:{" "}
      <Fig v={f.time(m.done_ps - m.posted_ps)} from="flows.parquet, done_ps − posted_ps" /> instead of{" "}
      <Fig v={f.time(m.ideal_ps)} from="flows.parquet, ideal_ps: the message alone on its path" />.
    </>
  );
};

/** Reason is the leading cause of that message, as the Packet view has it. */
const Reason = ({ info }: { info: Info }) => {
  const { m } = useMessage(info);
  return <>{m?.why && `${m.why}.`}</>;
};

/** chapters tells the ten chapters with the figures of a run, and of one of its ports: the scene's, else the one with the
 * longest queue. */
export function chapters(info: Info, port?: number): Chapter[] {
  const s = info.summary;
  const r = info.manifest.resolved;
  const training = r["workload.training.model"];
  const keys = Object.keys(r);
  const models = keys.filter((k) => /^jobs\..*\.training\.model$/.test(k)).map((k) => r[k]);
  const traced = r[keys.find((k) => /(^workload|^jobs\..*)\.trace\.files\[0\]$/.test(k)) ?? ""];
  // A step need not be described as a training: jobs of their own, traces and operations compute as well.
  const parallel = s.exposed_tp_ps + s.exposed_pp_ps + s.exposed_dp_ps + s.exposed_cp_ps + s.exposed_ep_ps;
  const listed = keys.some((k) => /(^workload|^jobs\..*)\.ops\[0\]/.test(k));
  const stepped = !!training || models.length > 0 || !!traced || listed || s.compute_ps + parallel > 0;
  const tp = Number(r["workload.training.tp"] ?? 1);
  const dp = Number(r["workload.training.dp"] ?? 1);
  const pp = Number(r["workload.training.pp"] ?? 1);
  const hosts = info.topology.nodes.filter((n) => n.role === "host").length;
  const net = info.ports.filter((p) => p.role === "host");
  const line = Math.max(...net.map((p) => p.rate_bps), 1);
  const card = Math.max(cardRate(info), line);
  const role = (n: number) => info.topology.nodes[n].role;
  const joins = info.topology.links.filter((l) => role(l.a) !== "host" && role(l.b) !== "host");
  const slower = joins.reduce((least, l) => Math.min(least, l.rate_bps), card);
  const longest = info.ports.reduce<PortRow | undefined>(
    (a, b) => (b.role !== "host" && (!a || b.queue_peak_bytes > a.queue_peak_bytes) ? b : a),
    undefined,
  );
  const hot = info.ports[port ?? -1] ?? longest;
  const held = Math.max(0, ...info.ports.filter((p) => p.role !== "host").map((p) => p.ingress_peak_bytes));
  const collectives = (s.collectives ?? []).filter((c) => c.kind !== "send-recv");
  const grad = collectives.find((c) => c.bound_by === "NIC") ?? collectives[0];
  const q = info.topology.configs?.[0];
  const carried = transportOf(info);
  const mtu = Number(r["transport.mtu"] ?? 4096);
  const slow = s.slowest_flow;
  const sent = s.flow_completion_ps.count > 0;
  const switches = info.topology.nodes.filter((n) => n.role !== "host").length;
  const lossless = s.drops === 0;
  const roles = slow ? way(info, slow.from, slow.to) : [];
  const ended = info.manifest.complete;
  const flows = byFlow(info);
  return [
    {
      title: "Why not TCP",
      finding: r["transport.kind"] !== "tcp" && s.network_bytes > 0 ? `${f.bytes(s.network_bytes)} without a copy` : undefined,
      picture: (
        <Copies tcp={r["transport.kind"] === "tcp"} direct={r["transport.tcp.gpudirect"] === "true"} />
      ),
      lines: [
        <>
          This run moved <Fig v={f.bytes(s.network_bytes)} from="summary.json, network_bytes" /> between
          servers in <Fig v={f.time(s.step_time_ps)} from="summary.json, step_time_ps" />. Each NIC does{" "}
          <Fig v={f.rate(card)} from="topology.json, the ports of the fastest NIC" />
          {card > line && `, ${f.count(card / line)} ports of ${f.rate(line)}`}.
        </>,
        <>
          Through the kernel every byte would be copied to host memory and back, by processors that have other
          work. RDMA takes the copies away: the NIC reads the GPU's memory and writes the other GPU's.
        </>,
        <>
          A packet of {mtu} bytes takes{" "}
          <Fig
            v={f.time(((mtu + (r["fabric.ip"] === "6" ? 102 : 82)) * 8e12) / line)}
            from="bytes on the wire over the line rate"
          />{" "}
          on this wire; an interrupt takes microseconds.
        </>,
      ],
    },
    {
      title: "The job and its ranks",
      finding: `${f.plural(s.gpus, "GPU")} on ${f.plural(hosts, "server")}`,
      picture: (
        <Laid
          hosts={info.topology.nodes.filter((n) => n.role === "host").map((n) => ({ name: n.name, gpus: n.gpus ?? 0 }))}
          tp={tp}
        />
      ),
      lines: [
        <>
          The scheduler hands out <Fig v={f.count(hosts)} from="topology.json, nodes of role host" /> servers
          with <Fig v={f.count(s.gpus)} from="summary.json, gpus" /> GPUs, and every process learns its rank.
        </>,
        training ? (
          <>
            The model is {training}
            {s.parameters ? (
              <>
                , <Fig v={f.count(s.parameters)} from="summary.json, parameters" /> parameters
              </>
            ) : (
              ""
            )}
            : tensor parallel over {tp}, {pp} {pp === 1 ? "stage" : "stages"}, {dp}{" "}
            {dp === 1 ? "replica" : "replicas"}.
            {tp > 1 && tp <= info.topology.gpus_per_host ? " Ranks that talk most sit in one server." : ""}
          </>
        ) : models.length > 0 ? (
          <>
            {models.length} of its jobs train: <Fig v={models.join(", ")} from="run.json, jobs" />.
          </>
        ) : stepped ? (
          <>
            The step is{" "}
            {traced ? (
              <>
                read from <Fig v={traced} from="run.json, trace.files" />
              </>
            ) : (
              "a list of operations"
            )}
            : every rank computes, sends and waits as that says
            {s.compute_ps > 0 && (
              <>
                , computing for <Fig v={f.time(s.compute_ps)} from="summary.json, compute_ps" />
              </>
            )}
            .
          </>
        ) : (
          <>
            This run has no training step: its traffic is a pattern, so every GPU simply is a rank that sends
            and receives.
          </>
        ),
        <>Rank 0 listens at port 29500; the other ranks connect to it and exchange addresses. The scheduler takes no further part.</>,
      ],
    },
    {
      title: "RDMA and the queue pair",
      picture: (
        <Chain
          boxes={[
            ["work request", slow && `WRITE, ${f.bytes(slow.bytes)}`],
            ["send queue", "in order"],
            ["NIC", slow && slow.from.split("/")[0]],
            ["the other NIC", slow && slow.to.split("/")[0]],
            ["memory", slow && slow.to],
            ["completion", slow && `after ${f.time(slow.time_ps)}`],
          ]}
        />
      ),
      lines: [
        <>
          A queue pair is two lists that the NIC works off without a processor. Here{" "}
          <Fig v={r["transport.qps"] ?? "1"} from="run.json, transport.qps" /> of them join{(r["transport.qps"] ?? "1") === "1" && "s"} two GPUs.
        </>,
        <>
          <Fig v={f.count(s.flow_completion_ps.count)} from="summary.json, flow_completion_ps.count" />{" "}
          messages went between servers; the mean one took{" "}
          <Fig v={f.time(s.flow_completion_ps.mean)} from="summary.json, flow_completion_ps.mean" />, the
          slowest <Fig v={f.time(s.flow_completion_ps.max)} from="summary.json, flow_completion_ps.max" />.
        </>,
        <>
          A WRITE names an address and a key. The receiver's processor learns nothing of it until it is done.
        </>,
      ],
    },
    {
      title: "The packet, layer by layer",
      picture: (
        <>
          <Chain boxes={headers(carried, info)} />
          {stack(carried, info).length > 0 && <Fields rows={stack(carried, info)} />}
        </>
      ),
      lines: [
        <>
          {["srd", "falcon"].includes(carried.key) ? (
            <>
              {carried.name}: {carried.means} Its packets' format is not public; here they have the bytes that
              headers like it take.
            </>
          ) : (
            <>
              {carried.key === "uec" && "UEC's windows, credit and paths are simulated over RoCEv2's packets, whose headers these are; its own (UET) are not. "}
              {carried.key === "mrc"
                ? "MRC keeps RoCEv2's headers and adds its own. The UDP source port (over IPv6 the flow label, too) " +
                  "is the entropy value: another one in each packet, so that switches hash each to another path"
                : "RoCEv2 is InfiniBand's transport in UDP. The UDP source port carries no service: switches hash " +
                  "it to choose a path"}{" "}
              <Fig v="(IBTA annex A17)" from="RoCEv2, source port as entropy" cited />.
            </>
          )}
        </>,
        flows ? (
          <>{unsimulated("packets")}</>
        ) : (
        <>
          Of <Fig v={f.count(s.packets)} from="summary.json, packets" /> packets, ACKs included, each crossed{" "}
          <Fig v={(s.packet_hops / Math.max(1, s.packets)).toFixed(1)} from="packet_hops over packets" />{" "}
          links on average.
        </>
        ),
        <>
          The PSN counts packets.{" "}
          {carried.key === "roce" || carried.key === "scheduled"
            ? "A gap in it is loss or reordering;"
            : "Packets that overtake others are no loss here;"}{" "}
          {flows ? (
            unsimulated("NAKs")
          ) : s.naks > 0 ? (
            <>
              <Fig v={f.count(s.naks)} from="summary.json, naks" /> NAKs told of a missing packet in this run.
            </>
          ) : (
            <>no NAK told of a missing packet in this run.</>
          )}
        </>,
      ],
    },
    {
      title: grad || !slow ? "Collectives" : "Transfers",
      finding:
        grad && grad.bound_bytes_per_second > 0
          ? `${grad.name} at ${f.percent(grad.busbw_bytes_per_second / grad.bound_bytes_per_second)} of what ${bounded(grad)} allows`
          : undefined,
      picture:
        !grad && slow ? (
          <Chain
            boxes={[
              [slow.from, "sends the slowest message"],
              [slow.to, `receives it after ${f.time(slow.time_ps)}`],
            ]}
          />
        ) : !grad || grad.algorithm === "ring" ? (
          <Ring
            ranks={grad?.ranks ?? s.gpus}
            name={grad ? `${grad.name}, ${grad.ranks} ranks` : "a ring, as in training"}
          />
        ) : (
          <Mesh
            ranks={grad.ranks}
            name={`${grad.name}, ${grad.ranks} ranks`}
            star={grad.kind !== "all-to-all"}
          />
        ),
      lines: [
        grad ? (
          <>
            {grad.name}: <Fig v={f.count(grad.count)} from="summary.json, collectives" /> times{" "}
            <Fig v={f.bytes(grad.bytes)} from="summary.json, collectives" /> over {grad.ranks} ranks
            {grad.algorithm ? (
              <>
                , by <Fig v={grad.algorithm} from="summary.json, algorithm" />
              </>
            ) : (
              ""
            )}
            . {rounds(grad)}
          </>
        ) : (
          <>
            No collective ran here: <Fig v={f.plural(s.flow_completion_ps.count, "message")} from="summary.json, flow_completion_ps.count" />{" "}
            between servers, and none waits for another{stepped ? " but by the step's order" : ""}.
          </>
        ),
        grad ? (
          <>
            Its bus bandwidth was{" "}
            <Fig v={`${(grad.busbw_bytes_per_second / 1e9).toFixed(1)} GB/s`} from="summary.json, busbw" />;
{" "}
            {bounded(grad)} allows{" "}
            <Fig v={`${(grad.bound_bytes_per_second / 1e9).toFixed(1)} GB/s`} from="summary.json, bound" />.
            {slower < line && (
              <>
                {" "}
                Links between switches are slower: <Fig v={f.rate(slower)} from="topology.json, the slowest link between switches" />.
              </>
            )}
          </>
        ) : (
          <>
            A message alone on its path takes its ideal time; what is above that is lost to others, or to congestion
            control.
          </>
        ),
        grad ? (
          <>
            No rank goes on before it has what it waits for, so the slowest transfer sets the pace of all.
          </>
        ) : (
          <>
            The mean took <Fig v={f.time(s.flow_completion_ps.mean)} from="summary.json, flow_completion_ps.mean" />, the slowest{" "}
            <Fig v={f.time(s.flow_completion_ps.max)} from="summary.json, flow_completion_ps.max" />.
          </>
        ),
      ],
    },
    {
      title: "Setting up a queue pair",
      picture: (
        <Chain
          boxes={[
            ["RESET"],
            ["INIT", "keys, port"],
            ["RTR", `first PSN, MTU ${mtu}`],
            ["RTS", r["transport.retries"] ? `timeouts, ${r["transport.retries"]} retries` : "timeouts, retries"],
            ["data flows", s.network_bytes > 0 ? f.bytes(s.network_bytes) : undefined],
          ]}
        />
      ),
      lines: [
        <>
          Before the first byte, ranks exchange queue pair numbers, first PSNs, addresses and keys over an
          ordinary connection <Fig v="(IBTA 10.3)" from="states of a queue pair" cited />.
        </>,
        <>
          Here: path MTU <Fig v={String(mtu)} from="run.json, transport.mtu" /> bytes
          {(r["transport.kind"] ?? "roce") === "roce" ? (
            <>
              , <Fig v={r["transport.retries"] ?? "7"} from="run.json, transport.retries" /> retries, recovery
              by <Fig v={r["transport.recovery"] ?? "go-back-n"} from="run.json, transport.recovery" />
            </>
          ) : (
            <>
              , carried by <Fig v={carried.name} from="run.json, transport.kind" />
            </>
          )}
          .
        </>,
        flows ? (
          <>{unsimulated("timeouts")}</>
        ) : s.timeouts > 0 ? (
          <>
            In this run <Fig v={f.count(s.timeouts)} from="summary.json, timeouts" /> time-outs expired.
          </>
        ) : (
          <>In this run no time-out expired.</>
        ),
      ],
    },
    {
      title: "A packet's journey",
      finding: sent ? <Slower info={info} /> : undefined,
      picture: (
        <Chain
          boxes={
            slow && roles.length > 0
              ? [[slow.from], ["NIC"], ...roles.map((x) => [x] as [string]), ["NIC"], [slow.to]]
              : [["GPU"], ["NIC"], ["switch"], ["NIC"], ["GPU"]]
          }
        />
      ),
      lines: [
        <>
          The fabric is {info.topology.kind}: <Fig v={String(switches)} from="topology.json" /> switches,{" "}
          <Fig v={String(info.topology.links.length)} from="topology.json" /> cables. Load balancing is{" "}
          <Fig v={s.lb} from="run.json, lb" />
          {carried.key === "mrc" && <>; senders run <Fig v={s.transport ?? "MRC"} from="summary.json, transport" /></>}.
        </>,
        sent ? <Journey info={info} /> : <>No message between servers ended in this run.</>,
        sent ? <Reason info={info} /> : <>So there is no journey to tell of; the picture shows what one is like.</>,
      ],
    },
    {
      title: "ECN and PFC",
      finding: flows ? "not simulated at flow fidelity" : `${f.plural(s.ecn_marks, "mark")}, ${f.plural(s.pfc_pauses, "pause")}`,
      picture: (
        <Bars
          rows={[
            ...(flows ? [] : [of("longest queue", hot?.queue_peak_bytes ?? 0)]),
            ...(q && q.wred_max_bytes
              ? [of("marking starts", q.wred_min_bytes), of("everything marked", q.wred_max_bytes)]
              : []),
            ...(q?.lossless && held > 0 ? [of("fullest ingress", held)] : []),
            ...(q?.lossless && (held > 0 || flows) && q.xoff_bytes ? [of("ingress pauses (xOFF)", q.xoff_bytes)] : []),
          ]}
        />
      ),
      lines: [
        flows ? (
          <>
            The thresholds of its switches: a queue above the first has packets marked, above the second all of them; an
            ingress above xOFF pauses its sender.
          </>
        ) : (
          marking(info)
        ),
        flows ? (
          <NotSimulated info={info} what="queues, ECN marks, CNPs, PFC pauses and drops" />
        ) : hot && hot.queue_peak_bytes > 0 ? (
          <>
            The {hot.queue_peak_bytes === longest?.queue_peak_bytes ? "longest" : ""} queue at {hot.name} reached{" "}
            <Fig v={f.bytes(hot.queue_peak_bytes)} from="ports.parquet, queue_peak_bytes" />.
          </>
        ) : (
          <>No queue formed.</>
        ),
        ...(flows ? [] : [pausing(info)]),
      ],
    },
    {
      title: "Completion",
      finding: ended ? `after ${f.time(s.step_time_ps)}` : undefined,
      picture: (
        <StepOf
          info={info}
          rows={[
            ["computing", s.compute_ps, f.time(s.compute_ps)],
            ["exposed communication", exposed(s), f.time(exposed(s))],
            ...(s.exposed_data_loading_ps ? [bar("waiting for data", s.exposed_data_loading_ps)] : []),
            ...(s.exposed_checkpoint_ps ? [bar("saving checkpoints", s.exposed_checkpoint_ps)] : []),
            ...(s.exposed_host_ps ? [bar("waiting for the host", s.exposed_host_ps)] : []),
            ["bubble", s.bubble_ps, f.time(s.bubble_ps)],
            ...(s.waiting_ranks_ps ? [bar("waiting for other ranks", s.waiting_ranks_ps)] : []),
            ...(s.slow_ranks_ps ? [bar("slow ranks", s.slow_ranks_ps)] : []),
          ]}
        />
      ),
      lines: [
        <>
          The last byte lands, the NIC writes a completion, and the rank that waited goes on
          {stepped ? ": the optimiser may step" : ""}.
        </>,
        !ended ? (
          <>
            This run was stopped before its end, after{" "}
            <Fig v={f.time(s.step_time_ps)} from="summary.json, step_time_ps" />: its figures are those of the
            time until then.
          </>
        ) : (
          <>
            {stepped ? "The step" : "All of it"} took{" "}
            <Fig v={f.time(s.step_time_ps)} from="summary.json, step_time_ps" />
            {s.mfu ? (
              <>
                , <Fig v={f.percent(s.mfu)} from="summary.json, mfu" /> of what the GPUs could do
              </>
            ) : (
              ""
            )}
            .
          </>
        ),
        flows ? (
          <>{unsimulated("drops and retransmissions")}</>
        ) : (
        <>
          {lossless ? (
            "Not one packet was dropped"
          ) : (
            <>
              <Fig v={f.count(s.drops)} from="summary.json, drops" /> packets were dropped
            </>
          )}
          , and{" "}
          {s.retransmissions > 0 ? (
            <Fig v={f.count(s.retransmissions)} from="summary.json, retransmissions" />
          ) : (
            "none"
          )}{" "}
          {s.retransmissions === 1 ? "was" : "were"} retransmitted.
        </>
        ),
      ],
    },
    {
      title: "Who owns what",
      picture: (
        <table class="owners">
          <thead>
            <tr>
              <th>layer</th>
              <th>who sets it</th>
              <th>does not own</th>
              <th>in this run</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>partitioning</td>
              <td>model engineers</td>
              <td>how bytes travel</td>
              <td>
                {training
                  ? `tp ${tp}, pp ${pp}, dp ${dp}`
                  : models.length > 0
                    ? `by job: ${models.join(", ")}`
                    : stepped
                      ? (traced ?? "a list of operations")
                      : "a traffic pattern"}
              </td>
            </tr>
            <tr>
              <td>collectives</td>
              <td>NCCL</td>
              <td>packets: it never sees one</td>
              <td>{grad ? `${grad.kind}${grad.algorithm ? `, ${grad.algorithm}` : ""}` : "none"}</td>
            </tr>
            <tr>
              <td>queue pairs, congestion control</td>
              <td>NIC firmware</td>
              <td>collectives: it never hears of an all-reduce</td>
              <td>
                {s.congestion_control ?? r["cc.algorithm"] ?? "–"}, {carried.name}
              </td>
            </tr>
            <tr>
              <td>paths</td>
              <td>switches</td>
              <td>gradients: they see headers</td>
              <td>{s.lb}</td>
            </tr>
            <tr>
              <td>ECN and PFC thresholds</td>
              <td>network engineers</td>
              <td>who sends, and when</td>
              <td>
                {q
                  ? `${f.bytes(q.wred_min_bytes)} to ${f.bytes(q.wred_max_bytes)}, xOFF ${f.bytes(q.xoff_bytes)}`
                  : "–"}
              </td>
            </tr>
            <tr>
              <td>cables and rails</td>
              <td>architects</td>
              <td>what runs on them</td>
              <td>{info.topology.kind}</td>
            </tr>
          </tbody>
        </table>
      ),
      lines: [
        <>Each layer has its own settings and its own team; a slow step is one layer's cause that shows in another.</>,
        <>
          The views Answer and Fabric of this run name the cause and the link; the table names who sets it.
        </>,
        <>All figures are of {info.name}.</>,
      ],
    },
  ];
}
