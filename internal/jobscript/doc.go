// Package jobscript reads the scripts that start trainings and executes none of them: batch scripts with #SBATCH
// lines, srun, torchrun, mpirun, DeepSpeed and Accelerate, and the flags and files of Megatron-LM, DeepSpeed, NeMo,
// torchtitan and Hugging Face.
//
// Bash is parsed by mvdan.cc/sh; sh.go, words.go and subst.go follow variables, arrays, functions, tests and
// substitutions as far as no other program is needed. A value that only a program can compute keeps its name between
// two private characters (slurm.Closed) and nothing is computed from it. [Found] is the training that results, with the
// place of each value; everything that was not read is listed. Steps, words and sizes are bounded.
package jobscript
