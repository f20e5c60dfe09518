// Command interop is an ordinary go-libp2p host for the interop matrix and the benchmarks. Its command line and output
// are those of the Rust program of the same name; README.md of the peers describes both.
package main

import (
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/protocol"

	"libp2p-fast-tcp/peers/program"
	"libp2p-fast-tcp/peers/stack"
)

const (
	echoProtocol = protocol.ID("/echo/1.0.0")
	sinkProtocol = protocol.ID("/sink/1.0.0")
	perfProtocol = protocol.ID("/perf/1.0.0")
)

const usage = program.Usage(`usage: interop listen [--host 127.0.0.1] [--port 0] [--security noise|tls]
       interop dial <multiaddr>|- [--count 100] [--bytes 262144] [--security noise|tls] [--timeout-ms 60000]
       interop perf <multiaddr> [--bytes 268435456] [--count 200] [--security noise|tls]
       interop load <multiaddr> [--uploads 1] [--ms 60000] [--security noise|tls]`)

func main() {
	program.Main(run)
}

func run(args []string) error {
	if len(args) == 0 {
		return usage
	}

	command, rest := args[0], args[1:]
	address := ""

	// the flag package stops at the first argument that is no flag, so the address is taken off first
	if command != "listen" {
		if len(rest) == 0 {
			return usage
		}

		address, rest = rest[0], rest[1:]
	}

	flags := flag.NewFlagSet("interop", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	security := flags.String("security", "noise", "")
	start, err := commandOf(command, address, flags)
	if err != nil {
		return err
	}

	if err := flags.Parse(rest); err != nil || flags.NArg() > 0 {
		return usage
	}

	common, err := stack.Options(*security)
	if err != nil {
		return fmt.Errorf("%w\n%w", err, usage)
	}

	return start(common)
}

// commandOf defines the command's flags, and returns what to do once they are parsed.
func commandOf(command string, address string, flags *flag.FlagSet) (func(common libp2p.Option) error, error) {
	switch command {
	case "listen":
		host := flags.String("host", "127.0.0.1", "")
		port := flags.Uint("port", 0, "")

		return func(common libp2p.Option) error { return listen(common, *host, *port) }, nil
	case "dial":
		count := flags.Int("count", 100, "")
		bytes := flags.Int("bytes", 262144, "")
		timeoutMs := flags.Int("timeout-ms", 60000, "")

		return func(common libp2p.Option) error {
			if *bytes < 1 {
				return usage
			}

			return dial(common, address, *count, *bytes, time.Duration(*timeoutMs)*time.Millisecond)
		}, nil
	case "perf":
		bytes := flags.Uint64("bytes", 256<<20, "")
		count := flags.Int("count", 200, "")

		return func(common libp2p.Option) error { return measurePerf(common, address, *bytes, *count) }, nil
	case "load":
		uploads := flags.Int("uploads", 1, "")
		ms := flags.Int("ms", 60000, "")

		return func(common libp2p.Option) error {
			return measureLoad(common, address, *uploads, time.Duration(*ms)*time.Millisecond)
		}, nil
	default:
		return nil, usage
	}
}
