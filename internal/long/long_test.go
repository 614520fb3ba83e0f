package long

import "testing"

// Short runs repeat few times and always draw the same; long ones draw what RAPID_SEED says.
func TestLong(t *testing.T) {
	for _, c := range []struct {
		long, seed string
		n          int
		want       uint64
	}{{"", "7", 24, 0}, {"1", "7", 200, 7}, {"1", "", 200, 0}} {
		t.Setenv("RAILYARD_LONG", c.long)
		t.Setenv("RAPID_SEED", c.seed)
		if n, seed := N(24, 200), Seed(); n != c.n || seed != c.want {
			t.Errorf("RAILYARD_LONG=%q RAPID_SEED=%q: %d times, seed %d; want %d, %d", c.long, c.seed, n, seed, c.n, c.want)
		}
	}
}
