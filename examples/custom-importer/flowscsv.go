// Package flowscsv adds an importer to Railyard: flows as CSV with the columns src, dst, bytes and start_us, GPUs
// numbered from 0.
package flowscsv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"railyard/extend"
	"railyard/unit"
)

// header is the first line of a file.
var header = []string{"src", "dst", "bytes", "start_us"}

var importer = extend.Importer{Name: "flows-csv", About: "flows as CSV: src, dst, bytes, start_us",
	Is:   func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("src,dst,bytes,start_us")) },
	Read: read}

func init() { extend.Import(importer) }

// read returns the flows of a file.
func read(_ string, text []byte) (gpus int, flows []extend.Flow, err error) {
	rows := csv.NewReader(bytes.NewReader(text))
	rows.FieldsPerRecord = len(header)
	if first, err := rows.Read(); err != nil || !slices.Equal(first, header) {
		return 0, nil, errors.New("the header is not src,dst,bytes,start_us")
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return gpus, flows, nil
		}
		if err != nil {
			return 0, nil, err
		}
		line, _ := rows.FieldPos(0)
		src, err1 := strconv.Atoi(row[0])
		dst, err2 := strconv.Atoi(row[1])
		size, err3 := strconv.ParseInt(row[2], 10, 64)
		start, err4 := strconv.ParseFloat(row[3], 64)
		err = errors.Join(err1, err2, err3, err4)
		if err != nil || src == dst || min(src, dst) < 0 || size < 1 || !(start >= 0) {
			return 0, nil, fmt.Errorf("line %d: %v: expected two different GPUs, bytes and microseconds", line, row)
		}
		gpus = max(gpus, src+1, dst+1)
		flows = append(flows, extend.Flow{Src: src, Dst: dst, Bytes: unit.Bytes(size),
			Start: unit.Time(start * float64(unit.Microsecond))})
	}
}
