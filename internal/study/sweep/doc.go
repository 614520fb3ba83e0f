// Package sweep runs studies of thousands of trials. A File defines the variation and the objectives, and Open
// creates a Study of it in a directory. Study.Run simulates the missing trials. Study.Analyse ranks points and
// finds the Pareto front and the relevant parameters. Study.Write writes results.csv and results.parquet.
//
// A trial is addressed by its content (ID), so no trial runs twice: neither after an interruption, nor in a larger
// study in the same directory, nor in one that takes over the trials of another.
//
//	study.json       the designs: what determines the trials (Design)
//	trials.jsonl     a line per trial that has ended (Record), in the order of their ends
//	results.csv      a row per trial in the order of the design: parameters, figures, causes
//	results.parquet  the same
//	runs/            run directories, where they are kept
package sweep
