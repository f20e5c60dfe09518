// Command peer is an ordinary go-libp2p host for the interop matrix and the benchmarks. Its command line and output
// are those of the Rust peer; ../README.md describes both.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

const (
	echoProtocol = protocol.ID("/echo/1.0.0")
	sinkProtocol = protocol.ID("/sink/1.0.0")
	perfProtocol = protocol.ID("/perf/1.0.0")
)

const usage = `usage: peer listen [--host 127.0.0.1] [--port 0] [--security noise|tls]
       peer dial <multiaddr>|- [--count 100] [--bytes 262144] [--security noise|tls] [--timeout-ms 60000]
       peer perf <multiaddr> [--bytes 268435456] [--count 200] [--security noise|tls]
       peer load <multiaddr> [--uploads 1] [--ms 60000] [--security noise|tls]`

// errUsage ends the process with 2, so that a caller can tell a wrong command line from a failed dial (1).
var errUsage = errors.New(usage)

func main() {
	err := run(os.Args[1:])

	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}

	flags := flag.NewFlagSet("peer", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	security := flags.String("security", "noise", "")

	switch args[0] {
	case "listen":
		host := flags.String("host", "127.0.0.1", "")
		port := flags.Uint("port", 0, "")

		if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 {
			return errUsage
		}

		return listen(*host, *port, *security)
	case "dial":
		count := flags.Int("count", 100, "")
		bytes := flags.Int("bytes", 262144, "")
		timeoutMs := flags.Int("timeout-ms", 60000, "")

		// the flag package stops at the first argument that is no flag, so the address is taken off first
		if len(args) < 2 {
			return errUsage
		}

		if err := flags.Parse(args[2:]); err != nil || flags.NArg() > 0 || *bytes < 1 {
			return errUsage
		}

		return dial(args[1], *count, *bytes, *timeoutMs, *security)
	case "perf":
		bytes := flags.Uint64("bytes", 256<<20, "")
		count := flags.Int("count", 200, "")

		if len(args) < 2 {
			return errUsage
		}

		if err := flags.Parse(args[2:]); err != nil || flags.NArg() > 0 {
			return errUsage
		}

		return measurePerf(args[1], *bytes, *count, *security)
	case "load":
		uploads := flags.Int("uploads", 1, "")
		ms := flags.Int("ms", 60000, "")

		if len(args) < 2 {
			return errUsage
		}

		if err := flags.Parse(args[2:]); err != nil || flags.NArg() > 0 {
			return errUsage
		}

		return measureLoad(args[1], *uploads, time.Duration(*ms)*time.Millisecond, *security)
	default:
		return errUsage
	}
}

// stack is what all commands have in common: TCP alone, and one security protocol alone so that a cell of the matrix
// means what its name says. The muxer is the library's own default, Yamux.
func stack(security string) (libp2p.Option, error) {
	transport := libp2p.Transport(tcp.NewTCPTransport)

	switch security {
	case "noise":
		return libp2p.ChainOptions(transport, libp2p.Security(noise.ID, noise.New)), nil
	case "tls":
		return libp2p.ChainOptions(transport, libp2p.Security(libp2ptls.ID, libp2ptls.New)), nil
	default:
		return nil, fmt.Errorf("no such security protocol: %q\n%w", security, errUsage)
	}
}
