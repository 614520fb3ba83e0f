package planner

import (
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// TrafficRow is a row of the Parquet table.
type TrafficRow struct {
	Src      int32 `parquet:"src_rank"`
	Dst      int32 `parquet:"dst_rank"`
	Tensor   int64 `parquet:"tensor_bytes"`
	Pipeline int64 `parquet:"pipeline_bytes"`
	Data     int64 `parquet:"data_bytes"`
	Context  int64 `parquet:"context_bytes"`
	Expert   int64 `parquet:"expert_bytes"`
	Other    int64 `parquet:"other_bytes"`
}

// WriteParquet writes the pairs that carry traffic.
func (t *Traffic) WriteParquet(f io.Writer) error {
	w := parquet.NewGenericWriter[TrafficRow](f, parquet.Compression(&parquet.Zstd))
	for _, p := range t.Pairs {
		b := p.Bytes
		row := TrafficRow{int32(p.Src), int32(p.Dst), b[KindTensor], b[KindPipeline],
			b[KindData],
			b[KindContext], b[KindExpert], b[KindOther]}
		if _, err := w.Write([]TrafficRow{row}); err != nil {
			return err
		}
	}
	return w.Close()
}

// TrafficSums are the sums of a traffic matrix, by kind of parallelism and by distance.
type TrafficSums struct {
	Bytes  int64                       `json:"bytes"`
	Kinds  map[string]KindSum          `json:"kinds"`
	Pairs  int                         `json:"pairs"`
	Ranks  int                         `json:"ranks"`
	Silent float64                     `json:"silent_share"` // pairs that exchange no message
	Tiers  map[string]map[string]int64 `json:"tiers"`        // bytes by kind
}

// KindSum is the traffic of a kind of parallelism.
type KindSum struct {
	Bytes    int64   `json:"bytes"`
	Carriers float64 `json:"pairs_share"` // pairs that carry the circuit
}

// JSON returns the sums.
func (t *Traffic) JSON() TrafficSums {
	out := TrafficSums{Ranks: t.Ranks, Bytes: t.Total(), Pairs: len(t.Pairs), Silent: t.Silent(),
		Kinds: map[string]KindSum{}, Tiers: map[string]map[string]int64{}}
	for k, name := range KindNames {
		out.Kinds[name] = KindSum{t.Kinds[k], t.Carriers(k)}
	}
	for i, name := range TierNames {
		by := map[string]int64{}
		for k, kind := range KindNames {
			by[kind] = t.ByTier[i][k]
		}
		out.Tiers[strings.ReplaceAll(name, " ", "_")] = by
	}
	return out
}
