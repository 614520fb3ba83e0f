// Package jobscript reads the scripts that start trainings and executes nothing in them. It reads batch scripts
// with #SBATCH lines, srun, torchrun, mpirun, DeepSpeed and Accelerate, and the flags and files of Megatron-LM,
// DeepSpeed, NeMo, torchtitan and Hugging Face.
//
// Package mvdan.cc/sh parses bash. The files sh.go, words.go and subst.go evaluate variables, arrays, functions,
// tests and substitutions that need no other program. A value that only a program can compute keeps its name
// between two private characters (slurm.Closed) and nothing is computed from it. [Found] is the training that
// results, with the place of each value; everything that was not read is listed. Steps, words and sizes are
// bounded.
package jobscript
