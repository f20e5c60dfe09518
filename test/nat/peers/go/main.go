// Command nat-peer is a go-libp2p host for the NAT lab: a public relay, or a private node that is to be reached by
// hole punching. ../../README.md describes the command line and the lines that it prints.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

const usage = `usage: nat-peer relay --listen <multiaddr> [--security noise|tls]
       nat-peer private --listen <multiaddr> --relay <multiaddr> [--security noise|tls]`

// errUsage ends the process with 2, so that a caller can tell a wrong command line from a failure (1).
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

	flags := flag.NewFlagSet("nat-peer", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.String("listen", "", "")
	relay := flags.String("relay", "", "")
	security := flags.String("security", "noise", "")

	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 || *listen == "" {
		return errUsage
	}

	common, err := stack(*security)
	if err != nil {
		return err
	}

	switch args[0] {
	case "relay":
		return runRelay(common, *listen)
	case "private":
		return runPrivate(common, *listen, *relay)
	default:
		return errUsage
	}
}

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

var (
	stdout   = json.NewEncoder(os.Stdout)
	stdoutMx sync.Mutex
)

func tell(line map[string]any) {
	stdoutMx.Lock()
	defer stdoutMx.Unlock()
	stdout.Encode(line)
}
