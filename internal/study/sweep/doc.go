// Package sweep runs studies of thousands of trials: a File says what varies and what is sought, Open makes a Study of
// it in a directory, Study.Run simulates the trials that the directory lacks, Study.Analyse ranks points, finds the
// Pareto front and the parameters that count, and Study.Write leaves results.csv and results.parquet.
//
// A trial is addressed by its content (ID), so that no trial runs twice: neither after an interruption, nor in a
// larger study in the same directory, nor in one that takes over the trials of another.
//
//	study.json       the designs: what determines the trials (Design)
//	trials.jsonl     a line per trial that has ended (Record), in the order of their ends
//	results.csv      a row per trial in the order of the design: parameters, figures, causes
//	results.parquet  the same
//	runs/            run directories, where they are kept
package sweep
