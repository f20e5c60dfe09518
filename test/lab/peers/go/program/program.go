// Package program is what the programs of this module have in common: how they end, and how they print times.
package program

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
)

// Usage is the error of a wrong command line: how to call the program.
type Usage string

func (u Usage) Error() string {
	return string(u)
}

// Main ends the process with 2 after a wrong command line, so that a caller can tell it from a failure (1).
func Main(run func(args []string) error) {
	err := run(os.Args[1:])
	if err == nil {
		return
	}

	fmt.Fprintln(os.Stderr, err)

	if usage := Usage(""); errors.As(err, &usage) {
		os.Exit(2)
	}

	os.Exit(1)
}

// Milliseconds keeps three decimals: what the timer can tell, in a line that can be read.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d.Microseconds())) / 1000
}
