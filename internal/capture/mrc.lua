-- Wireshark dissector of MRC, the OCP's Multipath Reliable Connection over RoCEv2, made by
--
--   railyard pcap --wireshark-plugin > mrc.lua
--
-- Put it into Wireshark's folder of personal Lua plugins (Help, About Wireshark, Folders), or
--
--   tshark -X lua_script:mrc.lua -r capture.pcapng -Y mrc
--
-- Ordinary RoCEv2 stays with Wireshark's own dissector. Where the format is from, and what in it is
-- Railyard's choice, is told in roce/mrcformat.go, from which the tables below were made.

local headers, fields, operations = {}, {}, {}

--[[FORMAT]]

local mrc = Proto("mrc", "Multipath Reliable Connection")

local types = {
  [8] = ftypes.UINT8, [16] = ftypes.UINT16, [24] = ftypes.UINT24, [32] = ftypes.UINT32, [64] = ftypes.UINT64,
}

local all = {}
for _, f in ipairs(fields) do
  local bits = 8
  while bits < f.bits do bits = bits + (bits < 32 and 8 or 32) end
  local kind, show = types[bits], f.hex and base.HEX or base.DEC
  if f.signed then kind = ftypes.INT16 end
  f.proto = ProtoField.new(f.name, "mrc." .. f.header:lower() .. "." .. f.name, kind, f.values, show, nil, f.doc)
  all[#all + 1] = f.proto
  headers[f.header].fields = headers[f.header].fields or {}
  table.insert(headers[f.header].fields, f)
end

local extra = {
  ev = ProtoField.uint32("mrc.ev", "Entropy value", base.HEX, nil, nil, "from the UDP source port and the flow label"),
  probe = ProtoField.uint16("mrc.probe_id", "Probe identifier", base.DEC),
  ack = ProtoField.uint32("mrc.ack_psn", "Acknowledged PSN", base.DEC, nil, nil, "the PSN that caused the SACK"),
  first = ProtoField.uint32("mrc.bitmap_psn", "PSN of the bitmap's bit 0", base.DEC),
  missing = ProtoField.string("mrc.missing", "Missing", base.UNICODE, "PSNs below the highest that has come"),
  range = ProtoField.uint32("mrc.psn_range", "PSNs that are tracked", base.DEC),
  bytes = ProtoField.uint32("mrc.bytes_received", "Bytes received", base.DEC),
  payload = ProtoField.bytes("mrc.payload", "Payload"),
  padding = ProtoField.bytes("mrc.padding", "Padding"),
  icrc = ProtoField.bytes("mrc.icrc", "Invariant CRC"),
}
for _, p in pairs(extra) do all[#all + 1] = p end
mrc.fields = all

local short = ProtoExpert.new("mrc.short", "The packet ends before its headers do", expert.group.MALFORMED,
  expert.severity.WARN)
mrc.experts = { short }

local flow_label = Field.new("ipv6.flow")

-- value reads a field of a header that begins at a byte, and says which bytes it lies in.
local function value(tvb, start, f)
  local first, last = math.floor(f.at / 8), math.floor((f.at + f.bits - 1) / 8)
  local range = tvb:range(start + first, last - first + 1)
  if f.bits == 64 then return range:uint64(), range end
  if f.signed then return range:int(), range end
  return range:bitfield(f.at - 8 * first, f.bits), range
end

-- add shows a header and returns what its fields say.
local function add(tvb, start, name, tree)
  local h, said = headers[name], {}
  local branch = tree:add(tvb:range(start, h.len), h.title .. " (" .. name .. ")")
  for _, f in ipairs(h.fields) do
    local v, range = value(tvb, start, f)
    said[f.name] = v
    branch:add(f.proto, range, v)
  end
  return said, branch
end

local function psn(x) return x % 0x1000000 end

local function word(f, v) return f[v] or tostring(v) end

local function named(header, name)
  for _, f in ipairs(headers[header].fields) do
    if f.name == name then return f.values or {} end
  end
end

-- sack shows what the fields of a SACK come to.
local function sack(tvb, start, s, branch)
  local range = tvb:range(start, headers.SETH.len)
  local text = string.format("up to %d", s.cack_psn)
  if s.pr == 1 then
    branch:add(extra.probe, range, s.ack_psn_offset % 0x10000):set_generated()
    text = text .. string.format(", answers probe %d", s.ack_psn_offset % 0x10000)
  else
    branch:add(extra.ack, range, psn(s.cack_psn + s.ack_psn_offset)):set_generated()
    text = text .. string.format(", for %d", psn(s.cack_psn + s.ack_psn_offset))
  end
  branch:add(extra.first, range, psn(s.cack_psn + s.sack_offset)):set_generated()
  local gaps, highest, words = {}, -1, { s.sack_bitmap:higher(), s.sack_bitmap:lower() }
  for i = 0, 63 do
    local w = words[i < 32 and 2 or 1]
    if math.floor(w / 2 ^ (i % 32)) % 2 == 1 then highest = i end
  end
  for i = 0, highest do
    local w = words[i < 32 and 2 or 1]
    if math.floor(w / 2 ^ (i % 32)) % 2 == 0 and s.sack_offset + i > 0 then
      gaps[#gaps + 1] = psn(s.cack_psn + s.sack_offset + i)
    end
  end
  if #gaps > 0 then
    branch:add(extra.missing, range, table.concat(gaps, ", ")):set_generated()
    text = text .. ", " .. #gaps .. " missing"
  end
  if s.mpr > 0 then branch:add(extra.range, range, s.mpr * 128):set_generated() end
  if s.cc_type == 0 then branch:add(extra.bytes, range, s.rcvd_bytes * 256):set_generated() end
  return text .. string.format(", EV 0x%x %s", s.entropy, word(named("SETH", "m"), s.m))
end

-- sentence is what the headers behind the BTH say, for the column.
local function sentence(name, said)
  if name == "METH" then return "message " .. said.msn end
  if name == "AETH" then return string.format("syndrome 0x%02x MSN %d", said.syndrome, said.msn) end
  if name == "NETH" then
    return string.format("%s, EV 0x%x", word(named("NETH", "nack_reason"), said.nack_reason), said.entropy)
  end
  if name == "PETH" then return "id " .. said.probe_id end
  if name == "ERTH" and said.op == 0 then return string.format("Port Status Update, planes 0x%x", said.port_status_mask) end
  if name == "ERTH" or name == "EETH" then return word(named(name, "op"), said.op) end
  return nil
end

-- entropy shows the packet's entropy value.
local function entropy(pinfo, tree)
  local ev, labels = pinfo.src_port, { flow_label() }
  if #labels > 0 and tostring(pinfo.net_src):find(":") then -- the innermost header's
    ev = labels[#labels].value % 0x10000 * 0x10000 + ev
  end
  tree:add(extra.ev, ev):set_generated()
end

local other = {}

function mrc.dissector(tvb, pinfo, root)
  local op = tvb:len() > 0 and operations[tvb:range(0, 1):uint()]
  if not op then
    local usual = other[pinfo.dst_port]
    if usual then return usual:call(tvb, pinfo, root) end
    return 0
  end
  pinfo.cols.protocol = "MRC"
  local tree, at, info, bth = root:add(mrc, tvb:range()), 0, { op.name }, {}
  entropy(pinfo, tree)
  for _, name in ipairs(op.headers) do
    if name ~= "TSETH" or bth.tseth == 1 then
      if tvb:len() < at + headers[name].len then
        tree:add_proto_expert_info(short)
        pinfo.cols.info = table.concat(info, " ") .. " [cut short]"
        return tvb:len()
      end
      local said, branch = add(tvb, at, name, tree)
      if name == "BTH" then
        bth = said
        info[#info + 1] = string.format("QP 0x%06x PSN %d", bth.dqp, bth.psn)
        if bth.rtx == 1 then info[#info + 1] = "again" end
      elseif name == "SETH" then
        info[#info + 1] = sack(tvb, at, said, branch)
      else
        info[#info + 1] = sentence(name, said)
      end
      at = at + headers[name].len
    end
  end
  local rest = tvb:len() - at
  if tvb:len() < tvb:reported_len() or rest < 4 then
    tree:add_proto_expert_info(short)
    info[#info + 1] = "[cut short]"
    if rest > 0 then tree:add(extra.payload, tvb:range(at, rest)) end
  else
    local pad = math.min(bth.pad, rest - 4)
    if rest - 4 - pad > 0 then tree:add(extra.payload, tvb:range(at, rest - 4 - pad)) end
    if pad > 0 then tree:add(extra.padding, tvb:range(tvb:len() - 4 - pad, pad)) end
    tree:add(extra.icrc, tvb:range(tvb:len() - 4, 4))
  end
  pinfo.cols.info = table.concat(info, " ")
  return tvb:len()
end

-- RoCEv2's port, and the one that MRC's specification prints.
local ports = DissectorTable.get("udp.port")
for _, port in ipairs({ 4791, 4971 }) do
  other[port] = ports:get_dissector(port)
  ports:add(port, mrc)
end
