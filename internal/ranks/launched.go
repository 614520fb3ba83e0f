package ranks

import (
	"cmp"
	"errors"
	"net"
	"os"
	"strconv"

	"railyard/internal/field"
	"railyard/internal/slurm"
)

// Launched fills what is unknown of a job from the variables that a launcher sets, torchrun's or srun's: its size (0),
// the rank of this process (-1), the address of rank 0 (""). A job of unknown size has two ranks.
func Launched(world, rank *int, rendezvous *string) error {
	nobody := *rendezvous == "" && *rank < 0 && *world == 0
	host := os.Getenv("MASTER_ADDR")
	if nobody {
		size, own := "WORLD_SIZE", "RANK"
		if os.Getenv(own) == "" && os.Getenv("SLURM_STEP_ID") != "" {
			size, own = "SLURM_NTASKS", "SLURM_PROCID"
		}
		if err := errors.Join(variable(size, world), variable(own, rank)); err != nil {
			return err
		}
		if nodes, err := slurm.Hosts(os.Getenv("SLURM_STEP_NODELIST")); host == "" && err == nil && len(nodes) > 0 {
			host = nodes[0]
		}
	}
	if *rendezvous == "" && *rank >= 0 && host != "" {
		*rendezvous = net.JoinHostPort(host, cmp.Or(os.Getenv("MASTER_PORT"), "29500")) // PyTorch's default
	}
	*world = cmp.Or(*world, 2)
	return nil
}

// variable reads a whole number from the environment, where there is one.
func variable(name string, v *int) error {
	s := os.Getenv(name)
	if s == "" {
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return field.New(name+" in the environment", "%s is not a whole number", field.Quote(s))
	}
	*v = n
	return nil
}
