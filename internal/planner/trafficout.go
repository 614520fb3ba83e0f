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

// JSON returns what traffic adds up to, by kind of parallelism and by distance.
func (t *Traffic) JSON() map[string]any {
	kinds, tiers := map[string]any{}, map[string]any{}
	for k, name := range KindNames {
		kinds[name] = map[string]any{"bytes": t.Kinds[k], "pairs_share": t.Carriers(k)}
	}
	for i, name := range TierNames {
		by := map[string]int64{}
		for k, kind := range KindNames {
			by[kind] = t.ByTier[i][k]
		}
		tiers[strings.ReplaceAll(name, " ", "_")] = by
	}
	return map[string]any{
		"ranks":        t.Ranks,
		"bytes":        t.Total(),
		"pairs":        len(t.Pairs),
		"silent_share": t.Silent(),
		"kinds":        kinds,
		"tiers":        tiers,
	}
}
