package table

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Score prints what a layout's step is estimated to take, by part.
func Score(w io.Writer, in *planner.SearchInput, s *planner.Scored) {
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s, %s: step %s, MFU %s (estimate)", in.Training.Model.Name, s.Layout,
		took(s.Seconds), unit.ShowShare(s.MFU)))
	report.Wrap(w, "", fmt.Sprintf("%s %s, %s sequences of %s tokens per step in %s; %s tokens/s and %s TFLOP/s per GPU",
		unit.ShowCount(s.Layout.GPUs()), strings.ToUpper(in.Site.GPU.Name), unit.ShowCount(in.Training.GlobalBatch),
		unit.ShowCount(in.Training.Seq), in.Training.Precision, unit.Digits(s.TokensGPU), unit.Digits(s.TFLOPs)))
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{Left: true}, {}, {}}}
	for _, p := range []struct {
		name string
		s    float64
	}{{"compute", s.Compute}, {"bubble", s.Bubble}, {"tensor parallel exposed", s.Tensor},
		{"pipeline parallel exposed", s.Pipeline}, {"data parallel exposed", s.Data},
		{"expert parallel exposed", s.Experts}, {"context parallel exposed", s.Context}, {"optimizer", s.Optimizer}} {
		if p.s >= 0.0005*s.Seconds {
			t.Add(p.name, took(p.s), unit.ShowShare(p.s/s.Seconds))
		}
	}
	t.Print(w)
	fit := "fits"
	if !s.Fits {
		fit = "does not fit"
	}
	report.Wrap(w, "", fmt.Sprintf("Memory: the fullest GPU needs %s of %s GB: %s (%.0f %% may be filled)",
		unit.Digits(float64(s.Memory)/1e9), unit.Digits(float64(s.Limit)/1e9), fit, 100*planner.MostMemory))
}
