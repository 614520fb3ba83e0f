// Written by `go test ./internal/report/web -run Contract -rewrite` from contract.go. Do not edit.

export interface Content {
  bytes: number;
  rows?: number;
  sha256: string;
}

export interface Manifest {
  name: string;
  version: string;
  seed: number;
  scenario: string;
  set?: string[];
  configs?: Record<string, string>;
  resolved: Record<string, string>;
  complete: boolean;
  wall_seconds: number;
  tables: string[];
  files: string[];
  contents?: Record<string, Content>;
  contents_sha256?: string;
  limits?: string[];
}

export interface Expected {
  worst: number;
  mean: number;
  cases: number;
  of: string;
  packet_hops_by_packets?: number;
}

export interface Audit {
  episodes: number;
  messages: number;
  worst: number;
  mean: number;
}

export interface Reused {
  episodes: number;
  simulated: number;
  kinds: number;
  simulated_packet_hops: number;
  audit?: Audit;
}

export interface Waited {
  rank: number;
  gpu: string;
  waited_ps: number;
  critical_ps: number;
  alike?: number;
}

export interface SlowRank {
  rank: number;
  gpu: string;
  compute_ps: number;
  siblings_compute_ps: number;
  gpu_kind?: string;
  fastest_kind?: string;
}

export interface CausePlace {
  cause: string;
  port: number;
  name: string;
  at_ps: number;
}

export interface Remedy {
  cause: string;
  expected_ps: number;
  limit?: string;
  simulated?: boolean;
  says: string;
  set?: string[];
  needs?: string;
  tried?: boolean;
  saved_ps?: number;
  refuted?: boolean;
}

export interface BusiestNIC {
  nic: string;
  receives: boolean;
  bytes: number;
  rate_bps: number;
  time_ps: number;
  repaired_time_ps: number;
}

export interface Drop {
  packet: string;
  port: string;
  at_ps: number;
}

export interface ReorderMemory {
  placement: string;
  limit_bytes?: number;
  limit_packets?: number;
  nic: string;
  peak_bytes: number;
  peak_packets: number;
  nics: number;
  kept_packets: number;
  dropped_packets: number;
  nics_full: number;
}

export interface InterfaceNode {
  name: string;
  voqs: number;
  held_peak_bytes: number;
  voq_peak_bytes: number;
  egress_peak_bytes: number;
  port_peak_bytes: number;
  granted_bytes: number;
  packets: number;
  wait_mean_ps: number;
  wait_most_ps: number;
}

export interface Scheduled {
  cells: number;
  cells_lost: number;
  packets_given_up: number;
  requests: number;
  requests_repeated: number;
  grants: number;
  egress_room_bytes: number;
  link_least_bytes: number;
  link_most_bytes: number;
  links: number;
  interface_nodes: InterfaceNode[];
}

export interface Counter {
  name: string;
  doc: string;
  count: number;
}

export interface Signal {
  name: string;
  unit: string;
  doc: string;
}

export interface Control {
  service: string;
  algorithm: string;
  transport?: string;
  title: string;
  queue_pairs: number;
  queue_pairs_cut: number;
  held_ps: number;
  counters: Counter[];
  signals: Signal[];
}

export interface Slowdowns {
  mean: number;
  p50: number;
  p99: number;
  max: number;
}

export interface FlowTimes {
  count: number;
  mean: number;
  p50: number;
  p99: number;
  max: number;
  slowdown?: Slowdowns;
}

export interface Job {
  name: string;
  complete: boolean;
  start_ps: number;
  end_ps: number;
  step_time_ps: number;
  compute_ps: number;
  exposed_comm_ps: number;
  exposed_tp_ps: number;
  exposed_pp_ps: number;
  exposed_dp_ps: number;
  exposed_cp_ps: number;
  exposed_ep_ps: number;
  exposed_other_ps: number;
  exposed_data_loading_ps?: number;
  exposed_checkpoint_ps?: number;
  exposed_host_ps?: number;
  bubble_ps: number;
  bubble_uneven_ps?: number;
  waiting_ranks_ps?: number;
  waited_for?: Waited[];
  slow_ranks_ps?: number;
  slow_ranks?: SlowRank[];
  chain?: Record<string, number>;
  gpus: number;
  parameters?: number;
  tokens?: number;
  training_gpus?: number;
  idle_gpus?: number;
  steps?: number;
  step_flops?: number;
  mfu?: number;
  network_bytes: number;
  flow_completion_ps: FlowTimes;
}

export interface Happened {
  at_ps: number;
  what: string;
  times: number;
  last_ps: number;
}

export interface Storage {
  servers: number;
  network: string;
  read_bytes: number;
  written_bytes: number;
  busiest: string;
  media_busy: number;
  checkpoint_write_ps?: number;
  checkpoint_interval_ps?: number;
  checkpoint_after_ps?: number;
}

export interface Stall {
  job?: string;
  step: number;
  kind: string;
  gpus: number;
  gpu: string;
  waited_ps: number;
  from: string;
  bytes: number;
  asked_ps: number;
  came_ps: number;
  media_ps: number;
  network_ps: number;
}

export interface MeetingJob {
  job: string;
  bytes: number;
}

export interface Meeting {
  port: string;
  from_ps: number;
  to_ps: number;
  together_ps: number;
  load: number;
  jobs: MeetingJob[];
}

export interface Collective {
  job?: string;
  name: string;
  kind: string;
  algorithm?: string;
  count: number;
  bytes: number;
  ranks: number;
  time_ps: number;
  time_min_ps: number;
  time_max_ps: number;
  algbw_bytes_per_second: number;
  busbw_bytes_per_second: number;
  busbw_best_bytes_per_second: number;
  bound_bytes_per_second: number;
  bound_by: string;
  uneven?: boolean;
  steady_ps?: number;
}

export interface LinkLoad {
  name: string;
  to_host: boolean;
  utilisation: number;
  ecn_marks: number;
  queue_peak_bytes: number;
  paused_ps: number;
}

export interface LinkUse {
  max_utilisation: number;
  mean_utilisation: number;
  idle: number;
  count: number;
  hottest: LinkLoad[];
  uplink_max_utilisation: number;
  uplink_min_utilisation: number;
  uplink_mean_utilisation: number;
  uplink_idle: number;
  uplinks: number;
}

export interface Slowest {
  from: string;
  to: string;
  bytes: number;
  time_ps: number;
  ideal_ps: number;
  queue?: string;
  queue_wait_ps: number;
  queue_peak_bytes: number;
  shared_with?: string[];
  shared_with_count: number;
  paused_by?: string[];
  paused_ps: number;
  ce_marked_packets: number;
  retransmissions: number;
  why: string;
  reason?: string;
  behind_ps?: number;
  earlier?: number;
  causes?: Record<string, number>;
}

export interface LinkEvent {
  at_ps: number;
  link: string;
  change: string;
  cables?: number;
  ends_ps?: number;
  routes_ps?: number;
}

export interface Missed {
  events: number;
  first: LinkEvent;
}

export interface ChainPort {
  port: number;
  name: string;
  priority: number;
  paused_since_ps: number;
  waiting_bytes: number;
  flow: string;
}

export interface Chain {
  closed_ps: number;
  ended_ps?: number;
  how: string;
  by?: string;
  ports: ChainPort[];
  first_paused: string;
  first_paused_for?: string;
  filled_by: string;
  told: string;
}

export interface Chains {
  count: number;
  ended_by_themselves: number;
  broken_by_watchdog: number;
  broken_by_cable: number;
  standing: number;
  chains: Chain[];
}

export interface PauseRoot {
  port: number;
  name: string;
  kind: string;
  pause_ps: number;
  paused_ports: number;
  held_bytes: number;
}

export interface PauseHeld {
  from?: string;
  to?: string;
  job?: string;
  pause_ps: number;
  held_bytes: number;
}

export interface PauseRanking {
  from_ps: number;
  to_ps: number;
  paused_ps: number;
  paused_ports: number;
  root_count: number;
  roots: PauseRoot[];
  flow_count: number;
  flows: PauseHeld[];
  jobs?: PauseHeld[];
}

export interface Move {
  at_ps: number;
  of_queue_pairs: number;
  moved: number;
  moved_off_working_ways: number;
}

export interface LostRank {
  gpu: string;
  since_ps: number;
  why: string;
}

export interface GaveUp {
  from: string;
  to: string;
  at_ps: number;
  why: string;
}

export interface Finished {
  operations: number;
  of_operations: number;
  computed_ps: number;
  of_computed_ps: number;
  network_bytes: number;
  of_network_bytes: number;
  collectives: number;
  of_collectives: number;
}

export interface Outcome {
  ended: string;
  at_ps: number;
  last_ps: number;
  job_ps: number;
  limit_ps: number;
  why: string;
  broken: string[];
  cut_off: LostRank[];
  errors: GaveUp[];
  failed: number;
  waiting_ranks: number;
  finished: Finished;
  lost_since_checkpoint_most_ps: number;
  lost_since_checkpoint_mean_ps: number;
  restart_ps: number;
  cost_mean_ps: number;
}

export interface TableCut {
  table: string;
  rows: number;
  total_rows?: number;
}

export interface Summary {
  name: string;
  version: string;
  seed: number;
  fidelity: string;
  expected_error?: Expected;
  reused?: Reused;
  lb: string;
  complete: boolean;
  congestion_control: string;
  transport?: string;
  step_time_ps: number;
  compute_ps: number;
  exposed_comm_ps: number;
  exposed_tp_ps: number;
  exposed_pp_ps: number;
  exposed_dp_ps: number;
  exposed_cp_ps: number;
  exposed_ep_ps: number;
  exposed_other_ps: number;
  exposed_data_loading_ps?: number;
  exposed_checkpoint_ps?: number;
  exposed_host_ps?: number;
  bubble_ps: number;
  bubble_uneven_ps?: number;
  waiting_ranks_ps?: number;
  waited_for?: Waited[];
  slow_ranks_ps?: number;
  slow_ranks?: SlowRank[];
  chain?: Record<string, number>;
  nvlink_latency_ps?: number;
  stored_latency_ps?: number;
  saving_simulated?: string[];
  places?: CausePlace[];
  unaccounted?: string;
  remedies?: Remedy[];
  busiest_nic?: BusiestNIC;
  claims_cut?: string[];
  gpus: number;
  parameters?: number;
  tokens?: number;
  training_gpus?: number;
  idle_gpus?: number;
  steps?: number;
  step_flops?: number;
  mfu?: number;
  packets: number;
  packet_hops: number;
  data_packets: number;
  data_packet_hops: number;
  network_bytes: number;
  nvlink_bytes: number;
  events: number;
  ecn_marks: number;
  cnps: number;
  pfc_pauses: number;
  pfc_pauses_full_buffer?: number;
  pfc_pause_frames: number;
  pfc_pause_ps: number;
  queue_peak_bytes: number;
  queue_mean_bytes: number;
  nic_wire_bytes: number;
  fairness_jain: number;
  drops: number;
  first_drop?: Drop;
  drops_bit_errors: number;
  drops_link_down: number;
  retransmissions: number;
  out_of_order: number;
  naks: number;
  timeouts: number;
  early_timeouts: number;
  failed_queue_pairs: number;
  reorder_peak_packets: number;
  flowlet_moves: number;
  pfc_storms: number;
  drops_pfc_storm: number;
  drops_wred: number;
  drops_no_route: number;
  trims?: number;
  trimmed_bytes?: number;
  drops_trimmed?: number;
  reorder_memory?: ReorderMemory;
  scheduled?: Scheduled;
  cc: Control[];
  jobs: Job[];
  steps_in_order?: Happened[];
  storage?: Storage;
  stalls?: Stall[];
  meetings?: Meeting[];
  collectives: Collective[];
  flow_completion_ps: FlowTimes;
  links: LinkUse;
  slowest_flow?: Slowest;
  link_events?: LinkEvent[];
  missed_events?: Missed;
  closed_chains?: Chains;
  pause_roots?: PauseRanking;
  route_changes?: Move[];
  outcome?: Outcome;
  tables_cut?: TableCut[];
  contents_sha256?: string;
  wall_seconds: number;
  sim_seconds: number;
  peak_memory_bytes: number;
}

export interface TopologyPlace {
  word: string;
  at: number;
}

export interface TopologyNode {
  name: string;
  role: string;
  tier: number;
  config: number;
  gpus?: number;
  group?: string;
  places?: TopologyPlace[];
}

export interface TopologyLink {
  a: number;
  b: number;
  a_port: string;
  b_port: string;
  from_a: number;
  from_b: number;
  rate_bps: number;
  length_mm: number;
}

export interface TopologyNIC {
  name: string;
  host: number;
  rail: number;
  links: number[];
  gpus?: number[];
}

export interface QueueConfig {
  queue: number;
  lossless: boolean;
  wred_min_bytes: number;
  wred_max_bytes: number;
  probability: number;
  xoff_bytes: number;
  xon_bytes: number;
  buffer_bytes: number;
}

export interface TopologyChange {
  at_ps: number;
  link: number;
  down?: boolean;
  rate_from_a_bps: number;
  rate_from_b_bps: number;
}

export interface TopologyDomain {
  name: string;
  by: string;
  rate_bps: number;
  gpus: number;
  nodes: number[];
}

export interface Topology {
  kind: string;
  gpus_per_host: number;
  nodes: TopologyNode[];
  links: TopologyLink[];
  nics: TopologyNIC[];
  configs: QueueConfig[];
  changes?: TopologyChange[];
  domains?: TopologyDomain[];
}

export interface PortRow {
  port: number;
  name: string;
  node: string;
  peer: string;
  role: string;
  rate_bps: number;
  wire_bytes: number;
  frames: number;
  ecn_marks: number;
  drops: number;
  trims: number;
  pause_frames_sent: number;
  pause_frames_received: number;
  paused_ps: number;
  queue_peak_bytes: number;
  ingress_peak_bytes: number;
  headroom_peak_bytes: number;
}

export interface Info {
  name: string;
  manifest: Manifest;
  summary: Summary;
  topology: Topology;
  ports: PortRow[];
  cols: number;
  leading: string;
  span_ps: number;
}

export interface CauseTime {
  key: string;
  time_ps: number;
}

export interface StepPart {
  key: string;
  name: string;
  time_ps: number;
  causes: CauseTime[];
}

export interface CauseInfo {
  key: string;
  name: string;
  color: string;
  about: string;
}

export interface LossRow {
  key: string;
  after: boolean;
  name: string;
  time_ps: number;
  saves: string;
}

export interface StepLoss {
  key: string;
  name: string;
  color: string;
  about: string;
  own_ps: number;
  reaction_ps: number;
  saving_ps: number;
  remedy?: Remedy;
}

export interface FailurePicture {
  link: string;
  port: number;
  name: string;
  down_ps: number;
  routes_ps: number;
  up_ps: number;
  drops: number;
  width_ps: number;
  lost: number[];
  qp: number;
  from: string;
  to: string;
  retransmitted_packets: number;
}

export interface VictimPicture {
  qp: number;
  from: string;
  to: string;
  time_ps: number;
  ideal_ps: number;
  path: number[];
  root: number;
  receiver: string;
  senders: string[];
  flows: number;
}

export interface PortPicture {
  longest: boolean;
  port: number;
  name: string;
  peak_bytes: number;
  at_ps: number;
  width_ps: number;
  queue_bytes: number[];
  wred_min_bytes: number;
}

export interface LinkPicture {
  port: number;
  name: string;
  mean: number;
  at_ps: number;
  width_ps: number;
  load: number[];
}

export interface EndPicture {
  rank: number;
  name: string;
  first_ps: number;
  median_ps: number;
  last_ps: number;
  ranks: number;
  counts: number[];
}

export interface PauseLane {
  port: number;
  name: string;
  spans: [number, number][];
}

export interface PausePicture {
  at_ps: number;
  pause_ps: number;
  from_ps: number;
  to_ps: number;
  ports: PauseLane[];
}

export interface RatePicture {
  qp: number;
  from: string;
  to: string;
  line_bps: number;
  rate_cuts: number;
  at_ps: number[];
  values: number[];
}

export interface Answer {
  parts: StepPart[];
  causes_present: CauseInfo[];
  fidelity?: string;
  method?: string;
  signals: string;
  main?: string;
  at_bound?: boolean;
  idle?: string[];
  bound?: string;
  gain?: string;
  left_ps: number;
  lost_ps: number;
  rows: LossRow[];
  below: LossRow[];
  reason?: string;
  losses: StepLoss[];
  minor: StepLoss[];
  place?: CausePlace;
  losing_ps?: [number, number];
  tied: number;
  remedies: Remedy[];
  failure?: FailurePicture;
  victim?: VictimPicture;
  port?: PortPicture;
  link?: LinkPicture;
  ends?: EndPicture;
  pause?: PausePicture;
  rate?: RatePicture;
}

export interface Grid {
  metric: string;
  from_ps: number;
  to_ps: number;
  cols: number;
  ports: number;
  scale: number;
  unit: string;
  rows: number[];
  data: string;
}

export interface Tier {
  name: string;
  ports: number;
  wred_min_bytes: number;
  wred_max_bytes: number;
  held_share: number;
  queue_peak_bytes: number;
  queue_bytes: number[][];
  load: number[][];
  above: number[];
}

export interface Through {
  qp: number;
  from: string;
  to: string;
  wait_ps: number;
  packets: number;
}

export interface Culprit {
  port: number;
  name: string;
  held_share: number;
  queue_peak_bytes: number;
  flows: Through[];
  flow_count: number;
}

export interface Group {
  name: string;
  above: number[];
}

export interface Tiers {
  from_ps: number;
  to_ps: number;
  width_ps: number;
  sample_ps: number;
  ports: number;
  half_ports: number;
  flows: number[];
  tiers: Tier[];
  culprits: Culprit[];
  groups: Group[];
}

export interface Dropped {
  port: number;
  name: string;
  drops: number;
  first_ps: number;
}

export interface Lanes {
  from_ps: number;
  to_ps: number;
  width_ps: number;
  queue_bytes: number[];
  port: number;
  name: string;
  wred_min_bytes: number;
  longest_at_ps: number;
  first_mark_ps: number;
  first_pause_ps: number;
  first_drop_ps: number;
  above: number[];
  paused: number[];
  ecn_marks: number[];
  drops: number[];
  dropped: Dropped[];
  qps: Through[];
}

export interface PortView {
  port: PortRow;
  series: [number, number, number, number, number, number][];
  flows: Through[];
  flow_count: number;
}

export interface QPRow {
  qp: number;
  service: string;
  job: string;
  from: string;
  to: string;
  line_bps: number;
  ce_marked_packets: number;
  rate_cuts: number;
  retransmitted_packets: number;
  messages: number;
}

export interface PathRow {
  qp: number;
  port: number;
  packets: number;
  wait_ps: number;
  queue_peak_bytes: number;
}

export interface Series {
  signal: string;
  at_ps: number[];
  values: number[];
}

export interface QPView {
  qp: QPRow;
  path: PathRow[];
  sent: Series;
  signals: Series[];
}

export interface FlowRow {
  message: number;
  from: string;
  to: string;
  qp: number;
  bytes: number;
  posted_ps: number;
  done_ps: number;
  ideal_ps: number;
  class: string;
  job: string;
}

export interface Flows {
  flows: FlowRow[];
  count: number;
}

export interface CollectiveRow {
  instance: number;
  name: string;
  kind: string;
  class: string;
  ranks: number;
  first_rank: number;
  bytes: number;
  start_ps: number;
  end_ps: number;
  causes: Record<string, number>;
  leading: string;
  port: number;
  at_ps: number;
  why: string;
  job: string;
}

export interface CollectiveSum {
  instance: number;
  name: string;
  kind: string;
  class: string;
  ranks: number;
  first_rank: number;
  bytes: number;
  start_ps: number;
  end_ps: number;
  causes: Record<string, number>;
  leading: string;
  port: number;
  at_ps: number;
  why: string;
  job: string;
  count: number;
}

export interface Collectives {
  worst: CollectiveRow[];
  sums: CollectiveSum[];
  causes_present: CauseInfo[];
  count: number;
}

export interface CriticalRow {
  start_ps: number;
  end_ps: number;
  rank: number;
  peer: number;
  class: string;
  operations: number;
}

export interface Critical {
  from_ps: number;
  to_ps: number;
  path: CriticalRow[];
  operations: number;
  causes: string[];
  shares: number[][];
}

export interface Pauses {
  cols: number;
  spans: [number, number, number, number, number][];
  count: number;
}

export interface Ranks {
  from_ps: number;
  to_ps: number;
  names: string[];
  spans: [number, number, number, number, number][];
  ranks: number;
  page: number[];
  left_out: number;
  shorter_ps: number;
  paused: [number, number][];
  sent: [number, number, number][];
}

export interface Total {
  width_ps: number;
  cols: [number, number, number, number, number][];
}

export interface Field {
  layer: string;
  name: string;
  from: number;
  to: number;
  value: string;
  about: string;
}

export interface Packet {
  number: number;
  at_ns: number;
  kind: string;
  from: string;
  to: string;
  sender: string;
  peer: string;
  port: string;
  again: boolean;
  qp: number;
  psn: number;
  ce: boolean;
  bytes: number;
  hex: string;
  said?: string;
  fields: Field[];
}

export interface Packets {
  packets: Packet[];
  more: boolean;
  skip: number;
  found: number;
  missing?: string;
}

export interface MessagePart {
  key: string;
  name: string;
  above: boolean;
  time_ps: number;
}

export interface Message {
  message: number;
  from: string;
  to: string;
  qp: number;
  bytes: number;
  posted_ps: number;
  done_ps: number;
  ideal_ps: number;
  class: string;
  job: string;
  first_packet: number;
  packets: number;
  earlier: number;
  behind_ps: number;
  causes?: Record<string, number>;
  parts: MessagePart[];
  leading?: string;
  why?: string;
}

export interface Messages {
  messages: Message[];
  count: number;
  mtu_bytes: number;
}

export interface Trace {
  follow: string[];
  capture: string[];
  from_ps: number;
  to_ps: number;
  stop: boolean;
}

export interface Hop {
  port: number;
  name: string;
  came_ps: number;
  ready_ps: number;
  found_bytes: number;
  paused: boolean;
  left_ps: number;
  behind_bytes: number;
  marked: boolean;
  trimmed: boolean;
  rate_bps: number;
}

export interface Copy {
  kind: string;
  data?: boolean;
  again?: boolean;
  bytes: number;
  hops: Hop[];
  end: string;
  end_ps: number;
  ended_at: string;
}

export interface Followed {
  asked: string;
  qp: number;
  psn: number;
  from: string;
  to: string;
  requester_qpn?: number;
  responder_qpn?: number;
  rkey?: number;
  first_psn?: number;
  copies: Copy[];
  more?: number;
}

export interface Journeys {
  packets: Followed[];
}

export interface Step {
  at_ps: number;
  begin_ps: number;
  until_ps: number;
  from: number;
  to: number;
  kind: string;
  label: string;
  detail: string;
  when: string;
  group: number;
}

export interface Sequence {
  name: string;
  shows: string;
  title: string;
  lanes: string[];
  steps: Step[];
  notes: string[];
  timeless: boolean;
  chart: boolean;
  slowest: number;
  qp: number;
  port: number;
}

export interface Told {
  names: string[];
  shows: string[];
  sequence?: Sequence;
  why: string;
}

export interface Entry {
  name: string;
  title: string;
  at: string;
  complete: boolean;
  step_time_ps: number;
  mfu: number;
  gpus: number;
  lb: string;
  ecn_marks: number;
  pfc_pauses: number;
  drops: number;
  seed: number;
  fidelity?: string;
  sets: string[];
  main_cause: string;
  causes: CauseTime[];
  bubble_ps?: number;
  outcome?: string;
  error?: string;
}

export interface SoFar {
  fidelity: string;
  ecn_marks: number;
  pfc_pauses: number;
  drops: number;
  queue_peak_bytes: number;
  hottest: LinkLoad[];
  collectives: Collective[];
}

export interface Simulation {
  id: string;
  title: string;
  state: string;
  error?: string;
  run?: string;
  now_ps: number;
  delivered_bytes: number;
  total_bytes: number;
  packet_hops: number;
  operations: number;
  operations_left: number;
  seconds: number;
  hops_per_second: number;
  seconds_left: number;
  so_far?: SoFar;
  of?: string;
  sets?: string[];
}

export interface Variant {
  run: string;
  sets: string[];
  step_time_ps: number;
}

export interface About {
  version: string;
  root: string;
  scenarios: Record<string, string>;
  names: Record<string, string[]>;
}

export interface Fault {
  line: number;
  column: number;
  path: string;
  message: string;
}

export interface Checked {
  ok: boolean;
  estimate?: string;
  error?: string;
  faults?: Fault[];
}

export interface ManyAxis {
  key: string;
  short: string;
  typed: string[];
  shown: string[];
  share: number;
}

export interface ManyFigure {
  key: string;
  words: string;
  kind: string;
  higher: boolean;
}

export interface ManyPoint {
  name: string;
  at: number[];
  figures: number[];
  low: number;
  high: number;
  seeds?: number[];
  tie: boolean;
  over?: [number, number];
  noise?: boolean;
  against?: [number, number];
  against_noise?: boolean;
  causes: CauseTime[];
  runs?: string[];
}

export interface StudyState {
  name: string;
  scenario: string;
  command?: string;
  seeds: number;
  points: number;
  trials: number;
  done: number;
  failed: number;
  open: number;
  rung: number;
  rungs: number;
  error?: string;
  at: string;
}

export interface Many {
  title: string;
  axes: ManyAxis[];
  more: number;
  together: number;
  figures: ManyFigure[];
  by: number[];
  points: ManyPoint[];
  of: number;
  base?: ManyPoint;
  unlike: string[];
  left_out: string[];
  study?: StudyState;
}

export interface StudyEntry {
  name: string;
  title: string;
  state?: StudyState;
  best: string[];
  tied: number;
  error?: string;
}

export interface Device {
  name: string;
  file: string;
  os: string;
  lines: number;
  known: number;
  host: boolean;
}

export interface LintFinding {
  severity: string;
  rule: string;
  file: string;
  line: number;
  column?: number;
  ports?: string;
  message: string;
  why: string;
  fix: string;
  commands?: string[];
}

export interface Linted {
  devices: Device[];
  findings: LintFinding[];
  ignored: string[];
  unread?: string;
  data_dscp: number;
}

export interface Evidence {
  file?: string;
  line?: number;
  device: string;
  port?: string;
  counter?: string;
  before?: number;
  after?: number;
  grew?: number;
  unit?: string;
  per_second?: number;
  says?: string;
}

export interface DiagnoseStep {
  device: string;
  command: string;
  why: string;
}

export interface Finding {
  cause: string;
  grade: string;
  sure: string;
  device: string;
  port?: string;
  peer?: string;
  class: number;
  says: string;
  why: string;
  fix: string;
  evidence: Evidence[];
  next: DiagnoseStep[];
}

export interface Edge {
  from: string;
  to: string;
  class: number;
  frames: number;
  per_second?: number;
  begins: boolean;
}

export interface DiagnoseDrop {
  port: string;
  class: number;
  lossless: boolean;
  ingress: boolean;
  packets: number;
  file: string;
  line: number;
}

export interface Compared {
  port: string;
  counter: string;
  seen_per_second: number;
  simulated_per_second: number;
}

export interface Incomplete {
  device: string;
  why: string;
  file?: string;
  ports?: string[];
  missing?: string[];
}

export interface Report {
  findings: Finding[];
  pauses: Edge[];
  drops: DiagnoseDrop[];
  compared?: Compared[];
  devices: number;
  ports: number;
  notes: string[];
  incomplete?: Incomplete[];
  undecided?: string;
}

export interface Read {
  lint?: Linted;
  diagnosis?: Report;
  faults: number;
}

export interface MemoryForm {
  model: string;
  gpu: string;
  tp: number;
  pp: number;
  dp: number;
  cp: number;
  ep: number;
  vpp: number;
  zero: number;
  recompute: string;
  schedule: string;
  micro_batch: number;
  sequence: number;
  microbatches: number;
}

export interface RankMemory {
  stage: number;
  layers: number;
  parameters: number;
  weight_bytes: number;
  gradient_bytes: number;
  optimizer_bytes: number;
  activation_bytes: number;
  buffer_bytes: number;
  microbatches_in_flight: number;
}

export interface Memory {
  model: string;
  parameters: number;
  gpu: string;
  gpu_memory_bytes: number;
  limit_bytes: number;
  gpus: number;
  stages: RankMemory[];
  worst_stage: number;
  worst_bytes: number;
  fits: boolean;
}

export interface SearchForm {
  model: string;
  global_batch: number;
  sequence: number;
  gpus: number;
}

export interface FailuresForm {
  kinds: string[];
}

export interface Layout {
  tp: number;
  pp: number;
  dp: number;
  cp: number;
  ep: number;
  ep_over_tp?: boolean;
  vpp: number;
  zero: number;
  uneven?: boolean;
  sequence_parallel: boolean;
  recompute: string;
  schedule: string;
  order: string;
  micro_batch: number;
  microbatches: number;
  sequence: number;
}

export interface Found {
  layout: Layout;
  step_seconds: number;
  mfu: number;
  tokens_per_second_gpu: number;
  memory_bytes: number;
  compute_seconds: number;
  bubble_seconds: number;
  exposed_tensor_seconds: number;
  exposed_pipeline_seconds: number;
  exposed_data_seconds: number;
  exposed_expert_seconds: number;
  exposed_context_seconds: number;
  optimizer_seconds: number;
  host_seconds?: number;
  bytes_per_gpu: [number, number, number];
  name: string;
}

export interface Rejected {
  reason: string;
  count: number;
  example: string;
}

export interface Searched {
  model: string;
  gpus: number;
  gpu_memory_bytes: number;
  tried: number;
  feasible: number;
  candidates: Found[];
  rejected: Rejected[];
}

export interface Row {
  kind: string;
  tier: string;
  name: string;
  alike: number;
  simulated: number;
  step_seconds?: number;
  least_step_seconds?: number;
  times_as_long?: number;
  rank_lost: boolean;
  isolated_gpus: number;
  cut_off?: string[];
  bytes_sent_again: number;
  packets_lost: number;
  error?: string;
}

export interface Totals {
  elements: number;
  single_points: number;
  worst_step_seconds: number;
  mean_step_seconds: number;
  isolated_gpus_most: number;
}

export interface Failed {
  step_seconds: number;
  at_seconds: number;
  failures: Row[];
  single_points_of_failure: string[];
  notes: string[];
  totals: Totals;
}
