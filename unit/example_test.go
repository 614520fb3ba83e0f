package unit_test

import (
	"fmt"

	"railyard/unit"
)

// How long 4 KiB take on a cable, and how much fits in a while.
func Example() {
	rate, err := unit.ParseRate("400Gbps")
	if err != nil {
		panic(err)
	}
	fmt.Println(unit.Serialize(4*unit.KiB, rate))
	fmt.Println(unit.InTime(rate, 2*unit.Microsecond))
	// Output:
	// 81.92ns
	// 100KB
}

// Quantities carry their units; an error says what would be accepted.
func ExampleParseTime() {
	t, _ := unit.ParseTime("1.5us")
	fmt.Println(t, int64(t), "ps")
	_, err := unit.ParseTime("600")
	fmt.Println(err)
	// Output:
	// 1.5us 1500000 ps
	// "600" is not a time: the unit is missing; write for example 600ns, 55us, 1.5ms or 2s
}

// Decimal and binary units are told apart, and printed in what suits the number.
func ExampleParseBytes() {
	for _, s := range []string{"150KB", "24MiB", "4096B"} {
		b, _ := unit.ParseBytes(s)
		fmt.Println(int64(b), b)
	}
	// Output:
	// 150000 150KB
	// 25165824 24MiB
	// 4096 4KiB
}
